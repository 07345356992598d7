import { selfSendGasLimit } from '../../domain/gas-limits.js'
import { ByteReader, concat, sameBytes, u8, u256 } from '../../quorum-protocol/bytes.js'
import { type IntentApproval, isAbsent } from '../../quorum-protocol/intent.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { DecodedTransaction } from '../../quorum-protocol/transaction.js'

/**
 * What was approved at each (wallet, chain, nonce). A second payload at a nonce is approved only
 * when it names the approval that it replaces, so that two calls can never both have a signature
 * there without knowledge of each other.
 */
export interface LedgerEntry {
  /** 32 bytes: the approval that holds the nonce. */
  readonly intentId: Uint8Array
  /**
   * 32 bytes: SHA-256 of the payload without its fees. Together with the fees, and the chain and
   * nonce of the key, it covers everything in the payload.
   */
  readonly bodyHash: Uint8Array
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
  /**
   * The approval of the call there, which its replacements keep; null when only its grant covers
   * it.
   */
  readonly approval: HeldApproval | null
  /**
   * The highest fee last approved there with a key, in wei per gas; 0 for an authorization. Null
   * when neither the approval that holds the nonce nor an earlier one had a key.
   */
  readonly keyedFeeWei: bigint | null
  /**
   * 16 bytes: the key whose policies count the gas of what is there in ceilings of native coin. Absent
   * where none of them has such a ceiling.
   */
  readonly gasOfKey?: Uint8Array
}

/** 16 bytes, and the most that replacements may cost. */
type HeldApproval = Pick<IntentApproval, 'approvalId' | 'maxNativeWei'>

/**
 * How a payload relates to the approval that holds its nonce.
 * - `new`: the nonce is free, or the payload replaces its call with another
 * - `repeat`: the very same bytes: signing again gives the same signature
 * - `fee-bump`: the same call, gas limit included, with higher fees
 * - `cancel`: a zero-value call of the wallet to itself with empty data, without a key
 */
export type LedgerRelation = 'new' | 'repeat' | 'fee-bump' | 'cancel'

/** Carries the id of the approval that holds the nonce, which the caller may name in `replaces`. */
export class NonceTaken extends Refusal {
  readonly heldBy: Uint8Array

  constructor(heldBy: Uint8Array) {
    super('NONCE_TAKEN', 'another payload was approved at this nonce')
    this.heldBy = heldBy
  }
}

/**
 * @param cancels true for a cancel without a key; a bump of one is another of them
 * @throws NonceTaken
 */
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
  if (cancels) return 'cancel'
  const bumps =
    isSameBody &&
    candidate.maxFeePerGasWei > held.maxFeePerGasWei &&
    candidate.maxPriorityFeePerGasWei >= held.maxPriorityFeePerGasWei
  return bumps ? 'fee-bump' : 'new'
}

/**
 * Checks a keyless request for a new payload at a nonce.
 * @throws Refusal UNDERPRICED when it is the call already there with too small an increase
 */
export function requireOtherCall(held: LedgerEntry | null, candidate: LedgerEntry): void {
  if (held === null || !sameBytes(held.bodyHash, candidate.bodyHash)) return
  throw new Refusal('UNDERPRICED', 'fees no higher than those approved at this nonce')
}

/**
 * Returns the entry that a replacement leaves at its nonce: the same call keeps its approval.
 * @throws Refusal APPROVAL_USED when it names another call's approval
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

/** Returns an entry whose nonce a key asked for with that fee; null without a key. */
export function keyedAs(entry: LedgerEntry, keyedFeeWei: bigint | null): LedgerEntry {
  return entry.keyedFeeWei === keyedFeeWei ? entry : { ...entry, keyedFeeWei }
}

/** An entry whose gas the policies of that key count; absent: nobody's do. */
export function withGasOf(entry: LedgerEntry, gasOfKey: Uint8Array | undefined): LedgerEntry {
  return gasOfKey === undefined ? entry : { ...entry, gasOfKey }
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
    payload.gasLimit === selfSendGasLimit(payload.chainId) &&
    sameBytes(payload.to, walletAddress)
  )
}

/** Returns the entry for a new payload with a key. */
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
      keyedFeeWei: 0n,
    }
  }
  return {
    intentId,
    bodyHash: bodyHashOf(payload),
    maxFeePerGasWei: payload.maxFeePerGasWei,
    maxPriorityFeePerGasWei: payload.maxPriorityFeePerGasWei,
    approval,
    keyedFeeWei: payload.maxFeePerGasWei,
  }
}

/** Hashes the fields of EIP-1559 and EIP-7702 except nonce, chain (both in the key) and fees. */
function bodyHashOf(payload: DecodedTransaction): Uint8Array {
  const { envelope, encodedAuthorizations } = payload
  return sha256(
    concat(
      // The count is hashed too, because data may look like one more authorization.
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
/** Four more than a key has, so that no two forms of an entry have one length. */
const GAS_OF_KEY_PADDING = Buffer.alloc(4)
const GAS_OF_KEY_BYTES = 16 + GAS_OF_KEY_PADDING.length
/** The last byte of an entry whose keyed fee differs from its own fee. */
const NEVER_KEYED = 0
const KEYED = 1

export function encodeEntry(entry: LedgerEntry): Buffer {
  const { approval } = entry
  return concat(
    entry.intentId,
    entry.bodyHash,
    u256(entry.maxFeePerGasWei),
    u256(entry.maxPriorityFeePerGasWei),
    ...(approval === null ? NOTHING : [approval.approvalId, u256(approval.maxNativeWei)]),
    ...keyedFeeParts(entry),
    ...(entry.gasOfKey === undefined ? NOTHING : [entry.gasOfKey, GAS_OF_KEY_PADDING]),
  )
}

const NOTHING: readonly Uint8Array[] = []

function keyedFeeParts({ keyedFeeWei, maxFeePerGasWei }: LedgerEntry): readonly Uint8Array[] {
  if (keyedFeeWei === maxFeePerGasWei) return NOTHING
  return keyedFeeWei === null ? [u8(NEVER_KEYED)] : [u8(KEYED), u256(keyedFeeWei)]
}

interface Form {
  readonly approved: boolean
  readonly keyed: boolean
  readonly counted: boolean
}

/** The forms of an entry, by the bytes that follow its fixed fields. */
const FORMS: ReadonlyMap<number, Form> = new Map(
  [false, true].flatMap((approved) =>
    [0, 1, 33].flatMap((keyedBytes) =>
      [false, true].map((counted): [number, Form] => [
        (approved ? APPROVAL_BYTES : 0) + keyedBytes + (counted ? GAS_OF_KEY_BYTES : 0),
        { approved, keyed: keyedBytes > 0, counted },
      ]),
    ),
  ),
)

export function decodeEntry(bytes: Uint8Array): LedgerEntry {
  const reader = new ByteReader(bytes)
  const intentId = reader.take(32)
  // Older entries also held the hash of the whole payload; it is skipped.
  if (bytes.length === ENTRY_BYTES + 32) reader.take(32)
  const [bodyHash, maxFeePerGasWei] = [reader.take(32), reader.u256()]
  const maxPriorityFeePerGasWei = reader.u256()
  const form = FORMS.get(bytes.length - ENTRY_BYTES)
  const approval = form?.approved === true ? readHeld(reader) : null
  const keyedFeeWei = form?.keyed === true ? readKeyedFee(reader) : maxFeePerGasWei
  const gasOfKey = form?.counted === true ? reader.take(16) : undefined
  if (gasOfKey !== undefined) reader.take(GAS_OF_KEY_PADDING.length)
  reader.end()
  const fees = { maxFeePerGasWei, maxPriorityFeePerGasWei, keyedFeeWei }
  return withGasOf({ intentId, bodyHash, ...fees, approval }, gasOfKey)
}

function readKeyedFee(reader: ByteReader): bigint | null {
  return reader.u8() === NEVER_KEYED ? null : reader.u256()
}

function readHeld(reader: ByteReader): HeldApproval {
  return { approvalId: reader.take(16), maxNativeWei: reader.u256() }
}
