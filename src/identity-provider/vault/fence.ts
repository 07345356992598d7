import type { BatchEvidence } from '../../custody/evidence/evidence-records.js'
import type { Dated, ReadEvidence } from '../../custody/evidence/read-evidence.js'
import {
  approvalMessage,
  coSignMessage,
  decodeHeader,
  hasBit,
  laneOf,
} from '../../quorum-protocol/batch.js'
import { isZero, sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import { decodeIntent, type Intent, intentId, usesGrant } from '../../quorum-protocol/intent.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import { bindApproval } from './approval-standing.js'
import { countKeyless, isKeyless, movesNothing } from './keyless.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'
import { entryOf, keyedAs, type LedgerEntry, withGasOf } from './nonce-ledger.js'

export interface Fenced {
  /** How many approvals the ledger learned. */
  readonly approvals: number
  /** The last of the lanes that are closed for good. */
  readonly lastLane: number
}

/**
 * Updates a restored ledger from evidence. The service cannot forge entries: each batch carries the
 * identity provider's approval, which is verified. Approvals that never reached the service are
 * missing, but they were never signed either.
 * @param logs complete logs; each may have entries that the other lacks
 * @throws Error when an approval in them is not genuine
 */
export async function fenceForward(
  ledger: LedgerStore,
  logs: readonly ReadEvidence[],
  registry: Registry,
): Promise<Fenced> {
  let approvals = 0
  for (const { index, timeMs, value } of batchesOf(logs)) {
    const ids = value.intents.map(intentId)
    const coSigned = coSignMessage(value.header, ids)
    const message = approvalMessage(coSigned, value.bitmap, value.quorumBoot)
    const approvers = registry.keysOf('approvers', timeMs)
    if (!approvers.some((key) => verifyP256(key, message, value.approval))) {
      throw new Error(`the approval in entry ${index} of the evidence is not genuine`)
    }
    const { result, flushed } = ledger.commit((writer) => putApproved(value, ids, writer, timeMs))
    approvals += result.filter(({ payload }) => payload.kind !== 'router-intent').length
    await flushed
  }
  return { approvals, lastLane: ledger.lastLane }
}

/**
 * Returns each batch once, in order of their sequences, which is the order of the decisions: the
 * last approval at a nonce may be in either log only.
 */
function batchesOf(logs: readonly ReadEvidence[]): Dated<BatchEvidence>[] {
  const found = new Map<string, Dated<BatchEvidence>>()
  for (const dated of logs.flatMap(({ batches }) => batches)) {
    found.set(viewOf(dated.value.approval).toString('latin1'), dated)
  }
  const seqOf = ({ value }: Dated<BatchEvidence>) => decodeHeader(value.header).batchSeq
  return [...found.values()].sort((a, b) => seqOf(a) - seqOf(b))
}

/** An approved intent of a batch in the evidence. */
export interface ApprovedIntent {
  readonly id: Uint8Array
  readonly intent: Intent
  readonly payload: DecodedPayload
  /** True when the ledger had no approval of the same call at its nonce. */
  readonly isNew: boolean
  /** Of a higher fee for a call that a key asked for; null of all else. */
  readonly raised: RaisedFee | null
}

interface RaisedFee {
  readonly gasOfKey: Uint8Array
  /** Gas limit × the amount by which the fee was raised. */
  readonly extraWei: bigint
}

/**
 * Repeats what a batch of the evidence changed in the ledger when it was approved.
 * @param ids the ids of all its intents, in order
 * @param atMs when it was approved
 * @returns its approved intents
 */
export function putApproved(
  batch: BatchEvidence,
  ids: readonly Uint8Array[],
  writer: LedgerWriter,
  atMs: number,
): ApprovedIntent[] {
  const { batchSeq } = decodeHeader(batch.header)
  writer.putLane(laneOf(batchSeq), batchSeq)
  const approved: ApprovedIntent[] = []
  batch.intents.forEach((encoded, position) => {
    const id = ids[position]
    if (id === undefined || !hasBit(batch.bitmap, position)) return
    const intent = decodeIntent(encoded)
    const payload = decodePayload(intent.type, intent.payload)
    // The ledger does not hold the Router's nonces.
    if (payload.kind === 'router-intent') {
      bindApproval(intent, payload, writer)
      approved.push({ id, intent, payload, isNew: true, raised: null })
      return
    }
    const rests = payload.kind === 'authorization' ? null : intent.approval
    const fresh = entryOf(id, payload, intent.payload, rests)
    const held = writer.entry(intent.walletId, payload.chainId, payload.nonce)
    const isNew = held === null || !sameBytes(held.bodyHash, fresh.bodyHash)
    const before = held?.keyedFeeWei ?? null
    const cancels = held !== null && movesNothing(payload)
    const isKeyed = isNew && usesGrant(intent) && !cancels
    const entry = withGasOf(
      keyedAs(
        isNew ? fresh : { ...fresh, approval: held.approval },
        isKeyed ? fresh.maxFeePerGasWei : before,
      ),
      gasOfKeyAfter(intent, payload, isKeyed, isNew ? undefined : held.gasOfKey),
    )
    const raised = isNew || cancels ? null : raisedFrom(held, payload)
    approved.push({ id, intent, payload, isNew, raised })
    if (cancels || isKeyless(intent, payload)) countKeyless(intent.walletId, writer, atMs)
    // Replacements name the approval that their nonce already has.
    if (isNew) bindApproval(intent, payload, writer)
    writer.putEntry(intent.walletId, payload.chainId, payload.nonce, entry)
  })
  return approved
}

/** The evidence says nothing of policies: a key without a ceiling of native coin counts nothing by it. */
function gasOfKeyAfter(
  { keyId }: Intent,
  { kind }: DecodedPayload,
  isKeyed: boolean,
  before: Uint8Array | undefined,
): Uint8Array | undefined {
  return isKeyed && kind === 'transaction' && !isZero(keyId) ? keyId : before
}

function raisedFrom(
  { gasOfKey, maxFeePerGasWei }: LedgerEntry,
  payload: DecodedPayload,
): RaisedFee | null {
  if (gasOfKey === undefined || payload.kind !== 'transaction') return null
  const more = payload.maxFeePerGasWei - maxFeePerGasWei
  return more > 0n ? { gasOfKey, extraWei: payload.gasLimit * more } : null
}
