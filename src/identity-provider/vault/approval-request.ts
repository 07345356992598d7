import { type ApprovalTerm, readApprovalTerm } from '../../custody/approvals/approval-term.js'
import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import {
  APPROVALS_NEEDED_MAX,
  DELAY_SECONDS_MAX,
  RULE_NAME_CHARS_MAX,
} from '../../policy/policy.js'
import { expectBytes, expectInteger } from '../../quorum-protocol/bytes.js'
import { PAYLOAD_BYTES_MAX } from '../../quorum-protocol/limits.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { APPROVAL_ENDS, type ApprovalDecision, type ApprovalEnd } from './approval-rows.js'

/** A call that waits, as the service tells of it. */
export interface AskedApproval {
  readonly term: ApprovalTerm
  /** The term's own bytes. */
  readonly encoded: Uint8Array
  readonly userId: string
  /** Calldata, or the encoded Router intent. */
  readonly call: Uint8Array
  readonly needed: number
  readonly delaySeconds: number
  readonly rule: string
  readonly spendUsd: string
  readonly payeeLabel: string | null
  /** Why people are asked once more, in the service's words; null: they are not. */
  readonly askedAgain: string | null
  /** 32 bytes, see `approvalKeyProof`. */
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
  const [label, again] = fields.slice(8)
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

/** As the service reads it. */
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
