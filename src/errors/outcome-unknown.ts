import type { TxId } from '../domain/ids.js'
import { type Fault, fault, type Result } from './fault.js'

/**
 * Why there was no reply: the journal does not answer, or the actor took too long for another
 * reason.
 */
export type NoReply = 'journal' | 'late'

/**
 * The fault of a command that an actor received but did not answer in time. It may be decided but
 * not stored, so it is neither done nor undone: the decision continues, and is stored or lost.
 */
export function outcomeUnknown(reason: NoReply): Fault {
  return fault('OUTCOME_UNKNOWN', { reason }, undefined, `no reply from the actor: ${reason}`)
}

/**
 * Longer than work on a call takes once commits continue (its node, its lists, its signatures),
 * unless it waits for earlier calls of its wallet.
 */
const SETTLES_MINUTES = 2

/**
 * The same for a call that moves value. With an Idempotency-Key the caller asks again with that
 * key: the call may be a repetition, whose transaction has the first one's id. Without a key there
 * is only the id that it has if it was accepted, which proves something only when it is found.
 */
export function unknownCall(refusal: Fault, txId: TxId, hasIdempotencyKey: boolean): Fault {
  if (refusal.code !== 'OUTCOME_UNKNOWN' || hasIdempotencyKey) return refusal
  return {
    ...refusal,
    message: `The outcome is unknown. If the call was accepted, it is transaction ${txId}: check that before retrying without an Idempotency-Key. Not finding it proves nothing until writes have worked again for ${SETTLES_MINUTES} minutes and the wallet's earlier transactions are mined.`,
    details: { ...refusal.details, tx_id: txId },
  }
}

const UNREAD =
  'This read waits for earlier decisions, which wait for the journal, and the journal does not answer; nothing was done.'

/** A read changes nothing, so its outcome cannot be unknown: it may be repeated. */
export function ofRead<T>(answer: Result<T>): Result<T> {
  if (answer.ok || answer.fault.code !== 'OUTCOME_UNKNOWN') return answer
  const { details, internal } = answer.fault
  return {
    ok: false,
    fault:
      details.reason === 'journal'
        ? fault('WRITES_STOPPED', details, UNREAD, internal)
        : fault('INTERNAL', {}, undefined, internal),
  }
}
