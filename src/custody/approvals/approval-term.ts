import { type AskedCall, type AskedSubject, approvalNonce } from '../../domain/approval.js'
import { ulidBytes } from '../../domain/ids.js'
import { keccak256 } from '../../domain/keccak.js'
import {
  ByteReader,
  concat,
  sameBytes,
  u8,
  u64,
  u256,
  viewOf,
} from '../../quorum-protocol/bytes.js'
import { hmacSha256 } from '../../quorum-protocol/hmac.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { decodeRouterIntent, encodeRouterIntent } from '../../quorum-protocol/router-intent.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'
import { fromHex } from '../../quorum-protocol/transaction.js'
import { intentAskedHash, intentTermsHash } from './intent-terms.js'

/**
 * What a person approves: one call by one key, in canonical bytes.
 * ```
 * "AWP1" | kind 1 | approval 16 | wallet 16 | key 16 | owner hash 32 | chain id 8 | to 20 | value 32
 *   | hash 32 | most gas 32 (wei) | expiry 8 (ms)
 * ```
 * The term has no nonce and no fee, which are chosen when the call is sent. The id makes an approval
 * valid for one nonce only, so that the same call twice needs two approvals; for a Router intent the
 * id is the nonce.
 */
export interface ApprovalTerm {
  readonly kind: 'transaction' | 'intent'
  /** 16 bytes each, from the ids' ULIDs. */
  readonly approvalId: Uint8Array
  readonly walletId: Uint8Array
  readonly keyId: Uint8Array
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  readonly chainId: number
  /** 20 bytes: the callee, or a Router intent's venue. */
  readonly to: Uint8Array
  /** Wei; 0 for a Router intent, whose terms state what it takes. */
  readonly value: bigint
  /** 32 bytes: keccak-256 of the calldata, or of the Router intent's terms. */
  readonly hash: Uint8Array
  /**
   * Gas limit × the highest fee, in wei, including replacements. The service pays for a Router
   * intent.
   */
  readonly maxNativeWei: bigint
  readonly expiresAtMs: number
}

const MAGIC = 'AWP1'
const KINDS = { transaction: 1, intent: 2 } as const
const CALL_BYTES = 4 + 1 + 3 * 16 + 32 + 8 + 20 + 32 + 32
const APPROVAL_TERM_BYTES = CALL_BYTES + 32 + 8

export function encodeApprovalTerm(term: ApprovalTerm): Buffer {
  return concat(
    Buffer.from(MAGIC, 'latin1'),
    u8(KINDS[term.kind]),
    term.approvalId,
    term.walletId,
    term.keyId,
    term.ownerHash,
    u64(term.chainId),
    term.to,
    u256(term.value),
    term.hash,
    u256(term.maxNativeWei),
    u64(term.expiresAtMs),
  )
}

/**
 * @returns the term at the front of `bytes`, its own bytes, and what follows it
 * @throws Refusal MALFORMED
 */
export function readApprovalTerm(bytes: Uint8Array): {
  readonly statement: ApprovalTerm
  readonly encoded: Uint8Array
  readonly rest: Uint8Array
} {
  if (!isApprovalTerm(bytes)) throw new Refusal('MALFORMED', 'no approval')
  const reader = new ByteReader(bytes)
  reader.take(MAGIC.length)
  const kind = kindOf(reader.u8())
  const statement: ApprovalTerm = {
    kind,
    approvalId: reader.take(16),
    walletId: reader.take(16),
    keyId: reader.take(16),
    ownerHash: reader.take(32),
    chainId: reader.u64(),
    to: reader.take(20),
    value: reader.u256(),
    hash: reader.take(32),
    maxNativeWei: reader.u256(),
    expiresAtMs: reader.u64(),
  }
  return { statement, encoded: bytes.subarray(0, APPROVAL_TERM_BYTES), rest: reader.rest() }
}

export function isApprovalTerm(bytes: Uint8Array): boolean {
  return viewOf(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC
}

/** Returns what a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function approvalTermMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.callApproval, encoded)
}

const ASKED_TAG = tagged(TAG.callAsked)

/**
 * Proves that the live API key requested the call: HMAC-SHA256 over the term except its cost and
 * expiry, which change when a person is asked again. For a Router intent the least output and the
 * venue's calldata may change as well, because they depend on a price; people see and sign them. It
 * may be stored: it proves nothing else.
 * @param proofKey 32 bytes, derived from the API secret
 * @param call the calldata or the encoded Router intent that the term's hash covers
 */
export function approvalKeyProof(
  proofKey: Uint8Array,
  term: ApprovalTerm,
  call: Uint8Array,
): Buffer {
  const hash = term.kind === 'intent' ? intentAskedHash(decodeRouterIntent(call)) : term.hash
  const asked = encodeApprovalTerm({ ...term, hash }).subarray(0, CALL_BYTES)
  return hmacSha256(proofKey, ASKED_TAG.length + asked.length, (room, at) => {
    room.set(ASKED_TAG, at)
    room.set(asked, at + ASKED_TAG.length)
  })
}

/** Tells whether two terms, in canonical bytes, differ only in cost and expiry. */
export function isSameCall(one: Uint8Array, other: Uint8Array): boolean {
  return sameBytes(one.subarray(0, CALL_BYTES), other.subarray(0, CALL_BYTES))
}

/** A term, and the bytes that its hash covers: calldata, or an encoded Router intent. */
export interface TermOfCall {
  readonly term: ApprovalTerm
  readonly call: Buffer
}

/** Builds the term that people are asked to sign. */
export function termOfCall(asked: AskedCall): TermOfCall {
  const { approvalId, walletId, keyId, userId, maxNativeWei, expiresAtMs, subject } = asked
  const of = {
    approvalId: ulidBytes(approvalId),
    walletId: ulidBytes(walletId),
    keyId: ulidBytes(keyId),
    ownerHash: sha256(Buffer.from(userId)),
    ...{ maxNativeWei, expiresAtMs },
  }
  if (subject.kind === 'transaction') {
    const { chainId, to, value, data } = subject.call
    const call = fromHex(data)
    const hash = keccak256(call)
    return { term: { kind: 'transaction', ...of, chainId, to: fromHex(to), value, hash }, call }
  }
  const call = encodedIntent(subject, approvalNonce(of.approvalId))
  const intent = decodeRouterIntent(call)
  const { chainId, target: to } = intent
  const hash = intentTermsHash(intent)
  return { term: { kind: 'intent', ...of, chainId, to, value: 0n, hash }, call }
}

function encodedIntent(
  { chainId, router, account, terms }: Extract<AskedSubject, { kind: 'intent' }>,
  nonce: bigint,
): Buffer {
  const intent = { ...terms, account, nonce, deadline: 0 }
  return encodeRouterIntent({ type: 'router-intent', chainId, verifyingContract: router, intent })
}

function kindOf(number: number): ApprovalTerm['kind'] {
  if (number === KINDS.transaction) return 'transaction'
  if (number === KINDS.intent) return 'intent'
  throw new Refusal('MALFORMED', 'kind of approval')
}
