import { sleep, type Timers } from '../clock/timers.js'
import { type Journal, type JournalHead, JournalUnavailable } from '../journal/journal.js'
import type { Environment } from './environment.js'
import { followJournal, NO_POSITION, StoreTooFarBehind } from './follow-journal.js'
import { journalMoveOf, MOVE_HELD_MS, nodeIdOf } from './journal-move.js'
import { isEmptyStore, type JournalPosition, journalPositionOf } from './journal-position.js'
import { PARTITION } from './journaled-store.js'
import { type RestoreProgress, restoreSnapshot } from './snapshots/restore-snapshot.js'
import { wayToEnd } from './snapshots/way-to-end.js'

export interface FollowOwnerOptions {
  /** What others know it by; absent: nobody hands a journal over to it by name. */
  readonly node?: string
  readonly environment: Environment
  readonly journal: Pick<Journal, 'look' | 'read' | 'trim' | 'snapshots'>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Told after each look: what the owner has stored, and how much of it this store has. */
  readonly followed: (progress: FollowProgress) => void
  /**
   * Why this side could not go on as the owner; null: it could. Asked now and then, and before the
   * journal is taken over, which it is not while there is a reason.
   */
  readonly hindrance?: () => Promise<string | null>
}

export interface FollowProgress {
  readonly epoch: number
  /** As it said when it took the journal; null: nobody has, or nobody was seen yet. */
  readonly owner: string | null
  readonly stored: number
  readonly applied: number
  /** The store is being restored from the journal's snapshot: nothing of the owner was seen yet. */
  readonly restoring: RestoreProgress | null
  /** Why the journal would not be taken over now; null: it would. */
  readonly hindrance: string | null
}

/** Between two looks, one row each; an owner says that it lives twice a second. */
const LOOK_MS = 100

/**
 * An owner that says nothing for as long is taken over from. One that lives all the same, frozen or
 * cut off, is ended by that and loses nothing, but its users wait for a restart: five times in a row that
 * it did not say so is no ordinary pause of a process or a network.
 */
export const OWNER_SILENT_MS = 2_500

/** A key that ends, or is taken away, is seen within this time; before a taking at once. */
const HINDRANCE_LOOK_MS = 10_000
/** Somebody mends it, and the journal may have no owner meanwhile. */
const HINDERED_LOOK_MS = 1_000

/** Below the first place there is: forgets nothing. */
const NOTHING = 0

/**
 * A journal whose answer takes longer was away for that time, as while an engine chooses another node
 * to lead: its owner could say nothing either, and what it then says may come after the next look.
 */
const LOOK_TAKES_MS = 1_000

const HINDERED =
  'a standby could sign nothing, so it does not take the journal over: carry service/custody/keys of the home where countersign custody rotate-cosigner was said to this one, and install the registry here (countersign custody install-registry). It looks again each second'

const NOTHING_THERE =
  'the journal has no entries and this store no records, so nothing is taken over: start the service that has them, or that is to be the first, as its owner'

/**
 * Keeps a store close behind the owner of its journal, until that one says that it leaves or has been
 * silent for too long by this machine's clock alone. While the journal does not answer, nobody can
 * tell: the silence is counted anew, and no answer tells of a time after it was asked for. Only what
 * the owner calls stored is followed, which no engine takes back; the rest comes with the taking.
 *
 * An empty store takes over no journal without entries: there is nothing that it could go on with. It
 * would begin an installation of its own beside the one whose owner has yet to come.
 * @returns the epoch to take it from
 * @throws Error where the store does not belong to the journal, or is too far behind it
 */
export async function followUntilOwnerIsGone(options: FollowOwnerOptions): Promise<number> {
  const { environment, journal, timers, log } = options
  let sign = ''
  let silentSinceMs = timers.elapsed()
  let isChecked = false
  let isAway = false
  let isTold = false
  const hindered = followHindrance(options)
  for (;;) {
    try {
      if (!isChecked) await restoreIfNeeded(options)
      // Of one without a position, entries that are yet to come may be another's.
      isChecked = journalPositionOf(environment) !== null
      const askedMs = timers.elapsed()
      const head = await journal.look(PARTITION)
      if (isAway) log.info({}, 'the journal answers again')
      const isLate = timers.elapsed() - askedMs > LOOK_TAKES_MS
      if (isAway || isLate || signOf(head) !== sign) silentSinceMs = timers.elapsed()
      isAway = false
      sign = signOf(head)
      const isSilent = askedMs - silentSinceMs > OWNER_SILENT_MS
      if (head.seq > 0 || !isEmptyStore(environment)) {
        const isOwnerless = isLeft(head) || isSilent
        const quietMs = askedMs - silentSinceMs
        const isGone = isOwnerless && !(await isAnothers(options, head, quietMs))
        // Before the last look at the owner: to ask for keys may take long.
        const mayTake = (await hindered.look(isGone)) === null
        if (isGone && mayTake && (isLeft(head) || (await staysSilent(journal, sign)))) {
          return head.epoch
        }
      } else if (isLeft(head) || isSilent) {
        if (!isTold) log.warn({}, NOTHING_THERE)
        isTold = true
      }
      const progress = await follow(options, head)
      // What it lacks was trimmed meanwhile: the next look finds what there is instead.
      isChecked &&= progress !== null
      if (progress !== null) {
        const { why } = hindered
        const owner = head.owner?.node ?? null
        const { epoch } = head
        options.followed({ epoch, owner, ...progress, restoring: null, hindrance: why })
      }
    } catch (err) {
      if (!(err instanceof JournalUnavailable)) throw err
      if (!isAway) log.warn({ err }, 'the journal does not answer: its owner cannot be seen')
      isAway = true
    }
    await sleep(timers, LOOK_MS)
  }
}

function followHindrance({ hindrance, timers, log }: FollowOwnerOptions) {
  let why: string | null = null
  let askedMs = Number.NEGATIVE_INFINITY
  return {
    get why() {
      return why
    },
    /** Of the last time that it was asked, where that is not too long ago. */
    async look(isGone: boolean): Promise<string | null> {
      const untilNextMs = isGone ? 0 : HINDRANCE_LOOK_MS
      const everyMs = why === null ? untilNextMs : HINDERED_LOOK_MS
      if (hindrance === undefined || timers.elapsed() - askedMs < everyMs) return why
      askedMs = timers.elapsed()
      const before = why
      why = await hindrance()
      if (why !== null && why !== before) log.warn({ why }, HINDERED)
      if (why === null && before !== null)
        log.info({}, 'a standby would take the journal over again')
      return why
    },
  }
}

async function restoreIfNeeded(options: FollowOwnerOptions): Promise<void> {
  const { environment } = options
  const restoring = await wayToEnd({ ...options, partition: PARTITION })
  if (restoring === null) return
  const restored = (progress: RestoreProgress) =>
    options.followed({
      epoch: 0,
      owner: null,
      stored: progress.seq,
      applied: 0,
      restoring: progress,
      hindrance: null,
    })
  const start = journalPositionOf(environment) ?? NO_POSITION
  await restoreSnapshot({ ...restoring, restored }, start)
}

/**
 * Whether the owner has said nothing even by the time that a write of this one's own was stored: where
 * the journal's disk is slow, an owner's word that it lives waits for it as this does.
 */
async function staysSilent(journal: FollowOwnerOptions['journal'], sign: string): Promise<boolean> {
  await journal.trim(PARTITION, NOTHING)
  return signOf(await journal.look(PARTITION)) === sign
}

/** Whether the owner has handed the journal over to another one, which still has the time to take it. */
async function isAnothers(
  options: FollowOwnerOptions,
  head: JournalHead,
  quietMs: number,
): Promise<boolean> {
  if (quietMs > MOVE_HELD_MS) return false
  // What it said of that comes before what it left with.
  await follow(options, head)
  const move = journalMoveOf(options.environment)
  return move?.epoch === head.epoch && move.to !== nodeIdOf(options.node ?? '')
}

/** @returns null where entries that the store lacks are not kept any more */
async function follow(
  { environment, journal }: FollowOwnerOptions,
  { beat }: JournalHead,
): Promise<{ readonly stored: number; readonly applied: number } | null> {
  let position: JournalPosition = journalPositionOf(environment) ?? NO_POSITION
  const stored = beat?.stored ?? 0
  try {
    if (stored > position.seq) {
      const followed = await followJournal(environment, journal, PARTITION, stored, position)
      position = followed.position
    }
    return { stored, applied: position.seq }
  } catch (error) {
    if (error instanceof StoreTooFarBehind) return null
    throw error
  }
}

/** Changes with all that the owner does to be seen; one before it may go on, and is none any more. */
function signOf({ epoch, beat }: JournalHead): string {
  return beat?.epoch === epoch ? `${epoch} ${beat.count}` : `${epoch}`
}

function isLeft({ epoch, beat }: JournalHead): boolean {
  return beat !== null && beat.epoch === epoch && beat.state === 'leaves'
}
