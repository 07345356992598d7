import type { TxId } from '../domain/ids.js'
import { type Fault, fault, type Result } from './fault.js'

/** Why no reply came: what stores it does not answer, or it took too long for another reason. */
export type NoReply = 'journal' | 'late'

/**
 * Of a command that an actor has and has not answered in time. It may be decided and not stored, so
 * that it is neither done nor undone: what was decided goes on by itself, and is stored or forgotten.
 */
export function outcomeUnknown(reason: NoReply): Fault {
  return fault('OUTCOME_UNKNOWN', { reason }, undefined, `no reply from the actor: ${reason}`)
}

/**
 * Beyond what a call is worked on for once commits go on (its node, its lists, its signatures), unless it
 * waits for what its wallet sent before.
 */
const SETTLES_MINUTES = 2

/**
 * The same of a call that moves value. One that came with an Idempotency-Key is asked about by that:
 * it may be a repetition, whose transaction has the id of the first. Of one without a key there is
 * nothing but the id that it has if it was taken, which proves something where it is found.
 */
export function unknownCall(refusal: Fault, txId: TxId, hasIdempotencyKey: boolean): Fault {
  if (refusal.code !== 'OUTCOME_UNKNOWN' || hasIdempotencyKey) return refusal
  return {
    ...refusal,
    message: `Whether this was carried out is not known yet. If it was, it is transaction ${txId}, so look for that before asking again without an Idempotency-Key; that it is not found proves nothing until writes have been taken again for ${SETTLES_MINUTES} minutes and what the wallet sent before is mined.`,
    details: { ...refusal.details, tx_id: txId },
  }
}

const UNREAD =
  'This is read after what was decided before it, which waits for the journal, and that does not answer; nothing was done.'

/** Of what changes nothing, or is undone, there is no outcome to be unknown: it may be asked again. */
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
