import { type ApprovalTerm, readApprovalTerm } from '../../custody/approvals/approval-term.js'
import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import {
  APPROVALS_NEEDED_MAX,
  DELAY_SECONDS_MAX,
  RULE_NAME_CHARS_MAX,
} from '../../policy/bounds.js'
import { expectBytes, expectInteger, expectList } from '../../quorum-protocol/bytes.js'
import { PAYLOAD_BYTES_MAX } from '../../quorum-protocol/limits.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { toHex } from '../../quorum-protocol/transaction.js'
import {
  APPROVAL_ENDS,
  type ApprovalDecision,
  type ApprovalEnd,
  type NamedToken,
  type ServiceNames,
} from './approval-rows.js'

/** A waiting call, as the service reports it. */
export interface AskedApproval {
  readonly term: ApprovalTerm
  /** The canonical bytes of the term. */
  readonly encoded: Uint8Array
  readonly userId: string
  /** The calldata, or the encoded Router intent. */
  readonly call: Uint8Array
  readonly needed: number
  readonly delaySeconds: number
  readonly rule: string
  readonly spendUsd: string
  readonly payeeLabel: string | null
  /** Why people are asked again, in the service's words; null when this is the first time. */
  readonly askedAgain: string | null
  /** Null when the service gave no names. */
  readonly names: ServiceNames | null
  /** 32 bytes; see `approvalKeyProof`. */
  readonly keyProof: Uint8Array
}

const USER_ID_CHARS_MAX = 255
const USD_CHARS_MAX = 64
const LABEL_CHARS_MAX = 128
const REASON_CHARS_MAX = 32
const TOKEN_CHARS_MAX = 8_192

/** @throws Refusal MALFORMED */
export function parseAsked(fields: readonly unknown[]): AskedApproval {
  const [termBytes, userId, call, needed, delaySeconds, rule, spendUsd, keyProof] = fields
  const [label, again, names] = fields.slice(8)
  const { statement: term, encoded, rest } = readApprovalTerm(expectBytes(termBytes))
  if (rest.length > 0) throw malformed('term')
  return {
    term,
    encoded: Buffer.from(encoded),
    userId: text(userId, USER_ID_CHARS_MAX),
    call: bytesUpTo(call, PAYLOAD_BYTES_MAX),
    needed: upTo(needed, APPROVALS_NEEDED_MAX),
    delaySeconds: upTo(delaySeconds, DELAY_SECONDS_MAX),
    rule: text(rule, RULE_NAME_CHARS_MAX),
    spendUsd: text(spendUsd, USD_CHARS_MAX),
    keyProof: expectBytes(keyProof, 32),
    payeeLabel: label === null ? null : text(label, LABEL_CHARS_MAX),
    askedAgain: again === undefined || again === null ? null : text(again, REASON_CHARS_MAX),
    names: names === undefined || names === null ? null : parseNames(names),
  }
}

const NAME_CHARS_MAX = 128
const SYMBOL_CHARS_MAX = 32
const DECIMALS_MAX = 255
/** A call gives one token and gets another, each with its wrapped form. */
const TOKENS_MAX = 4

function parseNames(value: unknown): ServiceNames {
  const [agent, wallet, tokens] = expectList(value, 3)
  if (!Array.isArray(tokens) || tokens.length > TOKENS_MAX) throw malformed('tokens')
  return {
    agent: agent === null ? null : text(agent, NAME_CHARS_MAX),
    wallet: wallet === null ? null : text(wallet, NAME_CHARS_MAX),
    tokens: tokens.map((token: unknown): NamedToken => {
      const [address, symbol, decimals] = expectList(token, 3)
      return {
        address: toHex(expectBytes(address, 20)),
        symbol: text(symbol, SYMBOL_CHARS_MAX),
        decimals: upTo(decimals, DECIMALS_MAX),
      }
    }),
  }
}

/** @throws Refusal MALFORMED */
export function parseApprove(fields: readonly unknown[]) {
  const [approvalId, proof, consoleToken] = fields
  return {
    approvalId: expectBytes(approvalId, 16),
    proof: proof === null ? null : bytesUpTo(proof, PROOF_BYTES_MAX),
    consoleToken: text(consoleToken, TOKEN_CHARS_MAX),
  }
}

/** @throws Refusal MALFORMED */
export function parseEnd(fields: readonly unknown[]): {
  readonly approvalId: Uint8Array
  readonly as: ApprovalEnd
} {
  const [approvalId, as] = fields
  const known = APPROVAL_ENDS.find((end) => end === as)
  if (known === undefined) throw malformed('end')
  return { approvalId: expectBytes(approvalId, 16), as: known }
}

/** Encodes a decision in the form that the service reads. */
export function decisionParts([number, decision]: readonly [number, ApprovalDecision]): unknown[] {
  const { approvalId, walletId, userId, authorizerId, atMs, comment, proof } = decision
  const what = [approvalId, walletId, userId, decision.decision]
  return [number, ...what, authorizerId, atMs, comment, proof]
}

function upTo(value: unknown, max: number): number {
  const number = expectInteger(value)
  if (number > max) throw malformed('number')
  return number
}

function bytesUpTo(value: unknown, max: number): Uint8Array {
  const bytes = expectBytes(value)
  if (bytes.length > max) throw malformed('bytes')
  return bytes
}

function text(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' || value.length > charsMax || /\p{Cc}/u.test(value)) {
    throw malformed('text')
  }
  return value
}

function malformed(what: string): Refusal {
  return new Refusal('MALFORMED', `approval request: ${what}`)
}
