import { ByteReader, concat, sameBytes, u256 } from '../../quorum-protocol/bytes.js'
import { type IntentApproval, isAbsent } from '../../quorum-protocol/intent.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { DecodedTransaction } from '../../quorum-protocol/transaction.js'

/**
 * What was approved at each (wallet, chain, nonce). A second payload at a nonce is approved only
 * when it says which approval it replaces, so that two callers can never both have a signature
 * there without knowing of each other.
 */
export interface LedgerEntry {
  /** 32 bytes: the approval that holds the nonce. */
  readonly intentId: Uint8Array
  /**
   * 32 bytes: SHA-256 of the payload without its fees. With the fees, and the chain and nonce of the
   * key, it is all that a payload says.
   */
  readonly bodyHash: Uint8Array
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
  /** What the call there rests on, for whatever replaces it; null: nothing but its grant. */
  readonly approval: HeldApproval | null
}

/** 16 bytes, and what replacements may cost at the most. */
export type HeldApproval = Pick<IntentApproval, 'approvalId' | 'maxNativeWei'>

/**
 * How a payload relates to what its nonce holds.
 * - `new`: nothing is there yet, or it replaces what is there with something else
 * - `repeat`: the very same bytes: signing again gives the same signature
 * - `fee-bump`: the same call, gas limit included, with higher fees
 * - `cancel`: a zero-value call of the wallet to itself with empty data
 */
export type LedgerRelation = 'new' | 'repeat' | 'fee-bump' | 'cancel'

/** Carries the id that the ledger holds, which the caller may name in `replaces`. */
export class NonceTaken extends Refusal {
  readonly heldBy: Uint8Array

  constructor(heldBy: Uint8Array) {
    super('NONCE_TAKEN', 'another payload was approved at this nonce')
    this.heldBy = heldBy
  }
}

/** A cancel costs 21,000 gas, on chains that bill data as gas some hundred thousand. */
const CANCEL_GAS_LIMIT_MAX = 1_000_000n

/** @throws NonceTaken */
export function relate(
  held: LedgerEntry | null,
  candidate: LedgerEntry,
  replaces: Uint8Array,
  cancels: boolean,
): LedgerRelation {
  if (held === null) return cancels ? 'cancel' : 'new'
  const isSameBody = sameBytes(held.bodyHash, candidate.bodyHash)
  if (isSameBody && hasSameFees(held, candidate)) return 'repeat'
  if (isAbsent(replaces) || !sameBytes(replaces, held.intentId)) throw new NonceTaken(held.intentId)
  const bumps =
    isSameBody &&
    candidate.maxFeePerGasWei > held.maxFeePerGasWei &&
    candidate.maxPriorityFeePerGasWei >= held.maxPriorityFeePerGasWei
  if (bumps) return 'fee-bump'
  return cancels ? 'cancel' : 'new'
}

/**
 * Of what asks without a key for something new at a nonce.
 * @throws Refusal UNDERPRICED where it is the call that is there, and outbids it too little
 */
export function requireOtherCall(held: LedgerEntry | null, candidate: LedgerEntry): void {
  if (held === null || !sameBytes(held.bodyHash, candidate.bodyHash)) return
  throw new Refusal('UNDERPRICED', 'fees no higher than those approved at this nonce')
}

/**
 * What a replacement leaves at its nonce: the same call rests on what it rested on before.
 * @throws Refusal APPROVAL_USED where it names an approval that is another call's
 */
export function underApproval(
  held: LedgerEntry | null,
  entry: LedgerEntry,
  relation: LedgerRelation,
): LedgerEntry {
  const before = held?.approval ?? null
  const named = entry.approval
  if (named !== null && !(before !== null && sameBytes(named.approvalId, before.approvalId))) {
    throw new Refusal('APPROVAL_USED', 'a replacement of another call')
  }
  const approval = relation === 'cancel' ? null : before
  return approval === named ? entry : { ...entry, approval }
}

function hasSameFees(a: LedgerEntry, b: LedgerEntry): boolean {
  return (
    a.maxFeePerGasWei === b.maxFeePerGasWei &&
    a.maxPriorityFeePerGasWei === b.maxPriorityFeePerGasWei
  )
}

/** @param walletAddress 20 bytes */
export function isCancel(payload: DecodedPayload, walletAddress: Uint8Array): boolean {
  return (
    payload.kind === 'transaction' &&
    payload.envelope === 2 &&
    payload.value === 0n &&
    payload.data.length === 0 &&
    payload.gasLimit <= CANCEL_GAS_LIMIT_MAX &&
    sameBytes(payload.to, walletAddress)
  )
}

export function entryOf(
  intentId: Uint8Array,
  payload: DecodedPayload,
  payloadBytes: Uint8Array,
  approval: HeldApproval | null,
): LedgerEntry {
  if (payload.kind !== 'transaction') {
    return {
      intentId,
      bodyHash: sha256(payloadBytes),
      maxFeePerGasWei: 0n,
      maxPriorityFeePerGasWei: 0n,
      approval,
    }
  }
  return {
    intentId,
    bodyHash: bodyHashOf(payload),
    maxFeePerGasWei: payload.maxFeePerGasWei,
    maxPriorityFeePerGasWei: payload.maxPriorityFeePerGasWei,
    approval,
  }
}

/** Over the fields of EIP-1559 and EIP-7702 but nonce, chain (both in the key) and fees. */
function bodyHashOf(payload: DecodedTransaction): Uint8Array {
  const { envelope, encodedAuthorizations } = payload
  return sha256(
    concat(
      // With their number: data may look like one authorization more.
      envelope === 2 ? Buffer.of(envelope) : Buffer.of(envelope, encodedAuthorizations.length),
      payload.to,
      u256(payload.value),
      u256(payload.gasLimit),
      ...encodedAuthorizations,
      payload.data,
    ),
  )
}

const ENTRY_BYTES = 4 * 32
const APPROVAL_BYTES = 16 + 32

export function encodeEntry(entry: LedgerEntry): Buffer {
  const { approval } = entry
  return concat(
    entry.intentId,
    entry.bodyHash,
    u256(entry.maxFeePerGasWei),
    u256(entry.maxPriorityFeePerGasWei),
    ...(approval === null ? NO_APPROVAL : [approval.approvalId, u256(approval.maxNativeWei)]),
  )
}

const NO_APPROVAL: readonly Uint8Array[] = []

export function decodeEntry(bytes: Uint8Array): LedgerEntry {
  const reader = new ByteReader(bytes)
  const intentId = reader.take(32)
  // The hash of the whole payload, which entries had before fees told as much.
  if (bytes.length === ENTRY_BYTES + 32) reader.take(32)
  const entry = {
    intentId,
    bodyHash: reader.take(32),
    maxFeePerGasWei: reader.u256(),
    maxPriorityFeePerGasWei: reader.u256(),
    approval: bytes.length === ENTRY_BYTES + APPROVAL_BYTES ? readHeld(reader) : null,
  }
  reader.end()
  return entry
}

function readHeld(reader: ByteReader): HeldApproval {
  return { approvalId: reader.take(16), maxNativeWei: reader.u256() }
}
