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
 * What a person approves: one call of one key, in canonical bytes.
 * ```
 * "AWP1" | kind 1 | approval 16 | wallet 16 | key 16 | owner hash 32 | chain id 8 | to 20 | value 32
 *   | hash 32 | most gas 32 (wei) | expiry 8 (ms)
 * ```
 * Nonce and fee are not in it: they are found when it is sent. The id makes an approval good for one
 * nonce alone, so that the same call twice is asked about twice; of a Router intent it is the nonce.
 */
export interface ApprovalTerm {
  readonly kind: 'transaction' | 'intent'
  /** 16 bytes each, of the ids' ULIDs. */
  readonly approvalId: Uint8Array
  readonly walletId: Uint8Array
  readonly keyId: Uint8Array
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  readonly chainId: number
  /** 20 bytes: the callee; of a Router intent its venue. */
  readonly to: Uint8Array
  /** Wei; 0 of a Router intent, whose terms say what it takes. */
  readonly value: bigint
  /** 32 bytes: keccak-256 of the calldata, or of the Router intent's terms. */
  readonly hash: Uint8Array
  /** Gas limit × highest fee at the most, wei: of replacements too. Of a Router intent the service pays. */
  readonly maxNativeWei: bigint
  readonly expiresAtMs: number
}

const MAGIC = 'AWP1'
const KINDS = { transaction: 1, intent: 2 } as const
const CALL_BYTES = 4 + 1 + 3 * 16 + 32 + 8 + 20 + 32 + 32
export const APPROVAL_TERM_BYTES = CALL_BYTES + 32 + 8

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

/** What a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function approvalTermMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.callApproval, encoded)
}

const ASKED_TAG = tagged(TAG.callAsked)

/**
 * That the live API key asked for the call: HMAC-SHA256 over all of the term but what it may cost and
 * its expiry, which change when a person is asked again. Of a Router intent the least output and the
 * venue's calldata change as well, since they are a price's: people see them, and sign them.
 * It may be kept: it is good for nothing else.
 * @param proofKey 32 bytes, derived from the API secret
 * @param call calldata, or the encoded Router intent, whose hash is the term's
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

/** Whether two terms, in canonical bytes, differ in nothing but what they may cost and their expiry. */
export function isSameCall(one: Uint8Array, other: Uint8Array): boolean {
  return sameBytes(one.subarray(0, CALL_BYTES), other.subarray(0, CALL_BYTES))
}

/** A term, and the bytes that its hash is of: calldata, or an encoded Router intent. */
export interface TermOfCall {
  readonly term: ApprovalTerm
  readonly call: Buffer
}

/** What people are asked to sign. */
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
