import { sleep, type Timers } from '../clock/timers.js'
import { type Cell, ONE_CELL } from '../domain/cells.js'
import { type Journal, type JournalHead, JournalUnavailable } from '../journal/journal.js'
import { watchUntilLeaderIsGone } from '../journal/watch-leader.js'
import type { Environment } from './environment.js'
import { followJournal, NO_POSITION, StoreTooFarBehind } from './follow-journal.js'
import {
  failoversOf,
  journalDrainOf,
  journalMoveOf,
  MOVE_HELD_MS,
  nodeIdOf,
} from './journal-move.js'
import { isEmptyStore, type JournalPosition, journalPositionOf } from './journal-position.js'
import { type RestoreProgress, restoreSnapshot } from './snapshots/restore-snapshot.js'
import { wayToEnd } from './snapshots/way-to-end.js'

export interface FollowLeaderOptions {
  /** The name by which `cluster move` hands the journal to this node; absent if it has none. */
  readonly node?: string
  /** The cell whose users the store has. Defaults to all users. */
  readonly cell?: Cell
  readonly environment: Environment
  readonly journal: Pick<Journal, 'readHead' | 'read' | 'trim' | 'snapshots'>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Called after each poll with what the leader has stored and how much of it this store has. */
  readonly followed: (progress: FollowProgress) => void
  /** As in `watchUntilLeaderIsGone`; absent if nothing can hinder this node. */
  readonly hindrance?: () => Promise<string | null>
  /** As in `watchUntilLeaderIsGone`. */
  readonly writesStop?: () => string | null
  /**
   * Asks the leader directly, which answers once it has stored more; 0 if it does not answer. If
   * absent, only the leader's heartbeat in the journal is followed.
   */
  readonly storedAfter?: (seq: number) => Promise<number>
}

export interface FollowProgress {
  readonly epoch: number
  /**
   * The address that the leader stated when it acquired the journal; null if there is no leader, or
   * none was seen yet.
   */
  readonly leader: string | null
  readonly stored: number
  readonly applied: number
  /** Progress of a restore from the journal's snapshot; no leader was seen before it ends. */
  readonly restoring: RestoreProgress | null
  /** Why this node would not take over now, or only after others; null if it would. */
  readonly hindrance: string | null
  /**
   * The leader's question to nodes that could take over (`JournalDrain`); null if it asked none.
   */
  readonly asked: string | null
}

/**
 * A leader without news answers late. One that repeats its last answer at once is polled after this
 * pause.
 */
const NO_NEWS_MS = 20

const HINDERED =
  'this standby cannot sign, so it does not take over the journal. Install the registry that names the co-signer key of this home with `countersign custody install-registry`; `countersign custody provision --domain service` creates the key and prints what the root must know. The standby checks again every second'

/**
 * Follows the leader of a journal closely until that leader is gone. Only entries that the leader
 * reports as stored are applied, because no engine takes those back; the others are applied after
 * this node has acquired the journal.
 * @returns the epoch of the leader that is gone
 * @throws Error if the store does not belong to the journal or is too far behind it
 */
export function followUntilLeaderIsGone(options: FollowLeaderOptions): Promise<number> {
  const { environment, cell = ONE_CELL, hindrance = async () => null } = options
  let isChecked = false
  return watchUntilLeaderIsGone({
    ...{ ...options, partition: cell.number, hindrance, wayOut: HINDERED },
    hasRecords: () => !isEmptyStore(environment),
    failovers: () => failoversOf(environment),
    isAnothers: (head, quietMs) => isAnothers(options, head, quietMs),
    async rest(forMs) {
      const isApart = isChecked && (await followMeanwhile(options, forMs)) === 'too far behind'
      if (isApart) isChecked = false
      if (!isChecked) await sleep(options.timers, forMs)
    },
    async prepare() {
      if (!isChecked) await restoreIfNeeded(options)
      // Without a position the journal could still turn out to belong to another store, so it is
      // checked again.
      isChecked = journalPositionOf(environment) !== null
    },
    async follow(head, why) {
      const progress = await followTo(options, head.beat?.stored ?? 0)
      // Entries that the store lacks were trimmed. The next poll restores from a snapshot instead.
      isChecked &&= progress !== null
      if (progress === null) return
      const leader = head.owner?.node ?? null
      const { epoch } = head
      const drain = journalDrainOf(environment)
      const asked = drain?.epoch === epoch && drain.asked !== '' ? drain.asked : null
      options.followed({ epoch, leader, ...progress, restoring: null, hindrance: why, asked })
    },
  })
}

/** Applies what the leader reports as stored, until the time is up. */
async function followMeanwhile(
  options: FollowLeaderOptions,
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

async function restoreIfNeeded(options: FollowLeaderOptions): Promise<void> {
  const { environment, cell = ONE_CELL } = options
  const restoring = await wayToEnd({ ...options, partition: cell.number })
  if (restoring === null) return
  const restored = (progress: RestoreProgress) =>
    options.followed({
      epoch: 0,
      leader: null,
      stored: progress.seq,
      applied: 0,
      restoring: progress,
      hindrance: null,
      asked: null,
    })
  const start = journalPositionOf(environment) ?? NO_POSITION
  await restoreSnapshot({ ...restoring, restored }, start)
}

/**
 * Whether the leader has handed the journal over to another node, or to any node but this one, and
 * that node still has time to acquire it.
 */
async function isAnothers(
  options: FollowLeaderOptions,
  head: JournalHead,
  quietMs: number,
): Promise<boolean> {
  if (quietMs > MOVE_HELD_MS) return false
  // The leader's row about the handover comes before its last heartbeat.
  await followTo(options, head.beat?.stored ?? 0)
  const [move, drain] = [journalMoveOf(options.environment), journalDrainOf(options.environment)]
  const own = nodeIdOf(options.node ?? '')
  if (move?.epoch === head.epoch) return move.to !== own
  return drain?.epoch === head.epoch && drain.from === own
}

/** @returns null if the journal no longer has entries that the store lacks */
async function followTo(
  { environment, journal, cell = ONE_CELL }: FollowLeaderOptions,
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
