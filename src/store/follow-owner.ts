import { sleep, type Timers } from '../clock/timers.js'
import { type Cell, ONE_CELL } from '../domain/cells.js'
import { type Journal, type JournalHead, JournalUnavailable } from '../journal/journal.js'
import { watchUntilOwnerIsGone } from '../journal/watch-owner.js'
import type { Environment } from './environment.js'
import { followJournal, NO_POSITION, StoreTooFarBehind } from './follow-journal.js'
import { journalDrainOf, journalMoveOf, MOVE_HELD_MS, nodeIdOf } from './journal-move.js'
import { isEmptyStore, type JournalPosition, journalPositionOf } from './journal-position.js'
import { type RestoreProgress, restoreSnapshot } from './snapshots/restore-snapshot.js'
import { wayToEnd } from './snapshots/way-to-end.js'

export interface FollowOwnerOptions {
  /** What others know it by; absent: nobody hands a journal over to it by name. */
  readonly node?: string
  /** Whose users the store has. Default: all. */
  readonly cell?: Cell
  readonly environment: Environment
  readonly journal: Pick<Journal, 'look' | 'read' | 'trim' | 'snapshots'>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Told after each look: what the owner has stored, and how much of it this store has. */
  readonly followed: (progress: FollowProgress) => void
  /** As of `watchUntilOwnerIsGone`; absent: there is none. */
  readonly hindrance?: () => Promise<string | null>
  /** As of `watchUntilOwnerIsGone`. */
  readonly writesStop?: () => string | null
  /**
   * Asks the owner itself, which answers once it has stored more; 0 where it does not answer. Absent: what it says
   * in the journal is all that is followed.
   */
  readonly storedAfter?: (seq: number) => Promise<number>
}

export interface FollowProgress {
  readonly epoch: number
  /** As it said when it took the journal; null: nobody has, or nobody was seen yet. */
  readonly owner: string | null
  readonly stored: number
  readonly applied: number
  /** The store is being restored from the journal's snapshot: nothing of the owner was seen yet. */
  readonly restoring: RestoreProgress | null
  /** Why the journal would not be taken over now, or after others alone; null: it would. */
  readonly hindrance: string | null
  /** By the owner, of those that could take the journal over (`JournalDrain`); null: nothing. */
  readonly asked: string | null
}

/** An owner that has no news answers late; one that says the same at once is not asked without a pause. */
const NO_NEWS_MS = 20

const HINDERED =
  'a standby could sign nothing, so it does not take the journal over: install the registry here that names the co-signer key of this home (countersign custody install-registry; countersign custody provision --domain service makes the key and says what the root must know). It looks again each second'

/**
 * Keeps a store close behind the owner of its journal until that one is gone. Only what the owner calls
 * stored is followed, which no engine takes back; the rest comes with the taking.
 * @returns the epoch to take it from
 * @throws Error where the store does not belong to the journal, or is too far behind it
 */
export function followUntilOwnerIsGone(options: FollowOwnerOptions): Promise<number> {
  const { environment, cell = ONE_CELL, hindrance = async () => null } = options
  let isChecked = false
  return watchUntilOwnerIsGone({
    ...{ ...options, partition: cell.number, hindrance, wayOut: HINDERED },
    hasRecords: () => !isEmptyStore(environment),
    isAnothers: (head, quietMs) => isAnothers(options, head, quietMs),
    async rest(forMs) {
      const isApart = isChecked && (await followMeanwhile(options, forMs)) === 'too far behind'
      if (isApart) isChecked = false
      if (!isChecked) await sleep(options.timers, forMs)
    },
    async prepare() {
      if (!isChecked) await restoreIfNeeded(options)
      // Of one without a position, entries that are yet to come may be another's.
      isChecked = journalPositionOf(environment) !== null
    },
    async follow(head, why) {
      const progress = await followTo(options, head.beat?.stored ?? 0)
      // What it lacks was trimmed meanwhile: the next look finds what there is instead.
      isChecked &&= progress !== null
      if (progress === null) return
      const owner = head.owner?.node ?? null
      const { epoch } = head
      const drain = journalDrainOf(environment)
      const asked = drain?.epoch === epoch && drain.asked !== '' ? drain.asked : null
      options.followed({ epoch, owner, ...progress, restoring: null, hindrance: why, asked })
    },
  })
}

/** Follows what the owner says that it has stored, for as long as that. */
async function followMeanwhile(
  options: FollowOwnerOptions,
  forMs: number,
): Promise<'close behind' | 'too far behind'> {
  const { environment, timers, storedAfter } = options
  const untilMs = timers.elapsed() + forMs
  for (let leftMs = forMs; leftMs > 0; leftMs = untilMs - timers.elapsed()) {
    const rested = sleep(timers, leftMs).then(() => null)
    const applied = journalPositionOf(environment)?.seq ?? 0
    const stored =
      storedAfter === undefined ? await rested : await Promise.race([rested, storedAfter(applied)])
    if (stored === null) break
    if (stored <= applied) {
      await sleep(timers, NO_NEWS_MS)
      continue
    }
    try {
      if ((await followTo(options, stored)) === null) return 'too far behind'
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) throw error
      await rested
    }
  }
  return 'close behind'
}

async function restoreIfNeeded(options: FollowOwnerOptions): Promise<void> {
  const { environment, cell = ONE_CELL } = options
  const restoring = await wayToEnd({ ...options, partition: cell.number })
  if (restoring === null) return
  const restored = (progress: RestoreProgress) =>
    options.followed({
      epoch: 0,
      owner: null,
      stored: progress.seq,
      applied: 0,
      restoring: progress,
      hindrance: null,
      asked: null,
    })
  const start = journalPositionOf(environment) ?? NO_POSITION
  await restoreSnapshot({ ...restoring, restored }, start)
}

/** Whether the owner has handed the journal over to another one, or to any but this, which still has the time to take it. */
async function isAnothers(
  options: FollowOwnerOptions,
  head: JournalHead,
  quietMs: number,
): Promise<boolean> {
  if (quietMs > MOVE_HELD_MS) return false
  // What it said of that comes before what it left with.
  await followTo(options, head.beat?.stored ?? 0)
  const [move, drain] = [journalMoveOf(options.environment), journalDrainOf(options.environment)]
  const own = nodeIdOf(options.node ?? '')
  if (move?.epoch === head.epoch) return move.to !== own
  return drain?.epoch === head.epoch && drain.from === own
}

/** @returns null where entries that the store lacks are not kept any more */
async function followTo(
  { environment, journal, cell = ONE_CELL }: FollowOwnerOptions,
  stored: number,
): Promise<{ readonly stored: number; readonly applied: number } | null> {
  let position: JournalPosition = journalPositionOf(environment) ?? NO_POSITION
  try {
    if (stored > position.seq) {
      const followed = await followJournal(environment, journal, cell.number, stored, position)
      position = followed.position
    }
    return { stored, applied: position.seq }
  } catch (error) {
    if (error instanceof StoreTooFarBehind) return null
    throw error
  }
}
