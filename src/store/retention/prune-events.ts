import type { StoredEvent } from '../../domain/event.js'
import type { TxId, UserId } from '../../domain/ids.js'
import { isFinal } from '../../domain/transaction.js'
import { decodeEvents } from '../encodings/event.js'
import { packedRecord } from '../encodings/sealing.js'
import { LAST } from '../pages.js'
import {
  type EventNeeds,
  type Mode,
  type PruneContext,
  STEP_RECORDS_MAX,
  type Step,
} from './step.js'
import { userAfter } from './users.js'

interface Cursor {
  readonly user: UserId
  /** Everything of the user up to this place was scanned. */
  readonly seq: number
}

/**
 * Removes the oldest events of each user, up to the first that is too young or still needed. The
 * log then has a later beginning, but no gap.
 */
export function eventStep(
  context: PruneContext,
  cursor: Cursor | null,
  beforeMs: number,
  mode: Mode,
): Step<Cursor> {
  const { spaces } = context.environment
  let events = 0
  let heldBack = 0
  let left = STEP_RECORDS_MAX
  let user = cursor?.user ?? userAfter(spaces, 'userEvents', null)
  let seq = cursor?.seq ?? 0
  while (user !== null) {
    const taken = takeOldest(context, { user, seq }, beforeMs, left, mode)
    events += taken.events
    if (taken.why === 'needed') heldBack++
    left -= Math.max(1, taken.scanned)
    if (taken.why === 'step full') {
      return { next: { user, seq: taken.throughSeq }, pruned: { events, heldBack } }
    }
    user = userAfter(spaces, 'userEvents', user)
    seq = 0
    if (left <= 0 && user !== null) return { next: { user, seq }, pruned: { events, heldBack } }
  }
  return { next: null, pruned: { events, heldBack } }
}

interface Taken {
  readonly events: number
  readonly scanned: number
  readonly throughSeq: number
  /** Why the next block stays. */
  readonly why: 'step full' | 'needed' | 'young or none'
}

function takeOldest(
  { environment: { spaces }, reader, needs }: PruneContext,
  { user, seq }: Cursor,
  beforeMs: number,
  left: number,
  mode: Mode,
): Taken {
  const old: StoredEvent[][] = []
  let why: Taken['why'] = 'young or none'
  let isNeeded: ReturnType<EventNeeds> | null = null
  const range = { start: [user, seq], end: [user, LAST], exclusiveStart: true }
  for (const { value } of spaces.userEvents.getSound(range)) {
    const block = decodeEvents(value, user)
    if (block.some(({ atMs }) => atMs >= beforeMs)) break
    isNeeded ??= needs(user)
    // Whether a transaction that cannot be read is open is unknown, so its events are kept.
    const isOpenOrUnknown = (event: StoredEvent) =>
      reader.ifSound(() => isOpen(event, reader.transactions.byId)) ?? true
    if (block.some(isNeeded) || block.some(isOpenOrUnknown)) {
      why = 'needed'
      break
    }
    if (old.length === left) {
      why = 'step full'
      break
    }
    old.push(block)
  }
  const all = old.flat()
  const throughSeq = all.at(-1)?.seq ?? seq
  if (mode === 'remove' && all.length > 0) {
    for (const block of old) spaces.userEvents.removeSync([user, block.at(-1)?.seq ?? 0])
    for (const event of all) {
      if (reader.ifSound(() => spaces.eventsById.get(event.eventId)) === event.seq) {
        spaces.eventsById.removeSync(event.eventId)
      }
    }
    spaces.retained.putSync([user, 'events'], packedRecord(throughSeq))
  }
  return { events: all.length, scanned: old.length, throughSeq, why }
}

/** Until a transaction is final, clients that follow it read the log from before its events. */
function isOpen(
  { moment, data }: StoredEvent,
  transactionOf: PruneContext['reader']['transactions']['byId'],
): boolean {
  const txId = moment?.txId ?? data?.tx_id
  if (typeof txId !== 'string') return false
  const tx = transactionOf(txId as TxId)
  return tx !== undefined && !isFinal(tx.status)
}
