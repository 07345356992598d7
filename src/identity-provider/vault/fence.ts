import type { BatchEvidence } from '../../custody/evidence/evidence-records.js'
import type { Dated, ReadEvidence } from '../../custody/evidence/read-evidence.js'
import {
  approvalMessage,
  coSignMessage,
  decodeHeader,
  hasBit,
  laneOf,
} from '../../quorum-protocol/batch.js'
import { sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import { decodeIntent, type Intent, intentId } from '../../quorum-protocol/intent.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import { bindApproval } from './approval-standing.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'
import { entryOf } from './nonce-ledger.js'

export interface Fenced {
  /** Approvals that the ledger learnt again. */
  readonly approvals: number
  /** Lanes up to this one are closed for good. */
  readonly lastLane: number
}

/**
 * Brings a restored ledger up to date from evidence. The service cannot invent any of its own: each
 * batch carries the user side's approval, which is verified. Approvals that the service never
 * received are missing there, and were never signed either.
 * @param logs whole ones; neither has to have all that the other has
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
    const { result, flushed } = ledger.commit((writer) => putApproved(value, ids, writer))
    approvals += result.filter(({ payload }) => payload.kind !== 'router-intent').length
    await flushed
  }
  return { approvals, lastLane: ledger.lastLane }
}

/**
 * Each once, in the order of the decisions, which is that of the sequences: what a nonce came to hold
 * last may be in either log alone.
 */
function batchesOf(logs: readonly ReadEvidence[]): Dated<BatchEvidence>[] {
  const found = new Map<string, Dated<BatchEvidence>>()
  for (const dated of logs.flatMap(({ batches }) => batches)) {
    found.set(viewOf(dated.value.approval).toString('latin1'), dated)
  }
  const seqOf = ({ value }: Dated<BatchEvidence>) => decodeHeader(value.header).batchSeq
  return [...found.values()].sort((a, b) => seqOf(a) - seqOf(b))
}

/** One intent of a batch in the evidence that was approved. */
export interface ApprovedIntent {
  readonly id: Uint8Array
  readonly intent: Intent
  readonly payload: DecodedPayload
  /** Whether the ledger had no approval of the same call at its nonce. */
  readonly isNew: boolean
}

/**
 * What a batch of the evidence did to the ledger when it was approved.
 * @param ids of all its intents, in order
 * @returns its approved intents
 */
export function putApproved(
  batch: BatchEvidence,
  ids: readonly Uint8Array[],
  writer: LedgerWriter,
): ApprovedIntent[] {
  const { batchSeq } = decodeHeader(batch.header)
  writer.putLane(laneOf(batchSeq), batchSeq)
  const approved: ApprovedIntent[] = []
  batch.intents.forEach((encoded, position) => {
    const id = ids[position]
    if (id === undefined || !hasBit(batch.bitmap, position)) return
    const intent = decodeIntent(encoded)
    const payload = decodePayload(intent.type, intent.payload)
    // The Router's nonces are not in the ledger.
    if (payload.kind === 'router-intent') {
      bindApproval(intent, payload, writer)
      approved.push({ id, intent, payload, isNew: true })
      return
    }
    const rests = payload.kind === 'authorization' ? null : intent.approval
    const fresh = entryOf(id, payload, intent.payload, rests)
    const held = writer.entry(intent.walletId, payload.chainId, payload.nonce)
    const isNew = held === null || !sameBytes(held.bodyHash, fresh.bodyHash)
    const entry = isNew ? fresh : { ...fresh, approval: held.approval }
    approved.push({ id, intent, payload, isNew })
    // Replacements name the approval that their nonce has already.
    if (isNew) bindApproval(intent, payload, writer)
    writer.putEntry(intent.walletId, payload.chainId, payload.nonce, entry)
  })
  return approved
}
