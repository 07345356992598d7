import { sleep, type Timers } from '../clock/timers.js'
import { type Journal, type JournalHead, JournalUnavailable } from './journal.js'
import { prove } from './proven.js'

export interface WatchOwnerOptions {
  readonly journal: Pick<Journal, 'look' | 'trim'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Before each look; what it throws is thrown, but for `JournalUnavailable`. */
  readonly prepare: () => Promise<void>
  /** After each look: brings this side closer to what the owner has stored, and tells of it. */
  readonly follow: (head: JournalHead, hindrance: string | null) => Promise<void>
  /** Whether this side has anything to go on with, where the journal has no entries. */
  readonly hasRecords: () => boolean
  /**
   * Why this side could not go on as the owner; null: it could. Asked now and then, and before the
   * journal is taken over, which it is not while there is a reason.
   */
  readonly hindrance: () => Promise<string | null>
  /**
   * Why this side would refuse what writes once it owns the journal, and would serve reads; null: it would
   * refuse nothing, as far as it knows. Told as a hindrance; the journal is left to others for as long as
   * `UNFIT_WAITS_MS`, and no longer. Absent: it would refuse nothing.
   */
  readonly writesStop?: () => string | null
  /**
   * Whether another one is to take it over from an owner that is gone, and still has the time to.
   * @param quietMs since the owner was last seen to do anything; absent: whoever is first takes it
   */
  readonly isAnothers?: (head: JournalHead, quietMs: number) => Promise<boolean>
  /** Between two looks; absent: nothing is done meanwhile. What it throws is thrown. */
  readonly rest?: (forMs: number) => Promise<void>
  /** What is to be done about a hindrance, for the log. */
  readonly wayOut: string
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

/**
 * For as long whoever would refuse writes leaves a journal without an owner to the others, who take it within
 * a second of that. Then it takes the journal all the same: with all of them hindered so, or with no other
 * there, nobody would serve reads either, and what stops writes heals at an owner as it does at one that
 * waits. One that could sign nothing never takes it: its start would end at its keys.
 */
export const UNFIT_WAITS_MS = 5_000

/**
 * A journal whose answer takes longer was away for that time, as while an engine chooses another node
 * to lead: its owner could say nothing either, and what it then says may come after the next look.
 */
const LOOK_TAKES_MS = 1_000

const WRITES_STOP =
  'a standby would refuse writes, so it takes the journal over after the others alone: mend what stops them'

const NOTHING_THERE =
  'the journal has no entries and this store no records, so nothing is taken over: start the service that has them, or that is to be the first, as its owner'

/**
 * Looks at the owner of a journal until that one says that it leaves, or has been silent for too long by
 * this machine's clock alone. While the journal does not answer, nobody can tell: the silence is counted
 * anew, and no answer tells of a time after it was asked for.
 *
 * Whoever has no records takes over no journal without entries: there is nothing that it could go on
 * with. It would begin an installation of its own beside the one whose owner has yet to come.
 * @returns the epoch to take it from
 */
export async function watchUntilOwnerIsGone(options: WatchOwnerOptions): Promise<number> {
  const { journal, partition, timers, log, isAnothers = async () => false } = options
  let sign = ''
  let silentSinceMs = timers.elapsed()
  let goneSinceMs: number | null = null
  let isAway = false
  let isTold = false
  const hindered = followHindrance(options)
  for (;;) {
    try {
      await options.prepare()
      const askedMs = timers.elapsed()
      const head = await journal.look(partition)
      if (isAway) log.info({}, 'the journal answers again')
      const isLate = timers.elapsed() - askedMs > LOOK_TAKES_MS
      const isNew = isAway || signOf(head) !== sign
      if (isNew || isLate) silentSinceMs = timers.elapsed()
      if (isNew) goneSinceMs = null
      isAway = false
      sign = signOf(head)
      const isSilent = askedMs - silentSinceMs > OWNER_SILENT_MS
      if (head.seq > 0 || options.hasRecords()) {
        const isOwnerless = isLeft(head) || isSilent
        const quietMs = askedMs - silentSinceMs
        const isGone = isOwnerless && !(await isAnothers(head, quietMs))
        // Before the last look at the owner: to ask for keys may take long.
        if (isGone) goneSinceMs ??= timers.elapsed()
        else goneSinceMs = null
        const mayTake = await hindered.mayTake(goneSinceMs)
        if (isGone && mayTake && (isLeft(head) || (await staysSilent(options, sign)))) {
          return head.epoch
        }
      } else if (isLeft(head) || isSilent) {
        if (!isTold) log.warn({}, NOTHING_THERE)
        isTold = true
      }
      await options.follow(head, hindered.why)
    } catch (err) {
      if (!(err instanceof JournalUnavailable)) throw err
      if (!isAway) log.warn({ err }, 'the journal does not answer: its owner cannot be seen')
      isAway = true
    }
    await (options.rest?.(LOOK_MS) ?? sleep(timers, LOOK_MS))
  }
}

function followHindrance(options: WatchOwnerOptions) {
  const { hindrance, writesStop = () => null, wayOut, timers, log } = options
  /** Of the last time that it was asked, where that is not too long ago. */
  let cannot: string | null = null
  let askedMs = Number.NEGATIVE_INFINITY
  let why: string | null = null

  async function ask(isGone: boolean): Promise<void> {
    const untilNextMs = isGone ? 0 : HINDRANCE_LOOK_MS
    const everyMs = cannot === null ? untilNextMs : HINDERED_LOOK_MS
    if (timers.elapsed() - askedMs < everyMs) return
    askedMs = timers.elapsed()
    cannot = await hindrance()
  }

  return {
    /** What others are told. */
    get why() {
      return why
    },
    /** @param goneSinceMs since when there is nobody to take it from; null: there is */
    async mayTake(goneSinceMs: number | null): Promise<boolean> {
      await ask(goneSinceMs !== null)
      const before = why
      why = cannot ?? writesStop()
      if (why !== null && why !== before) log.warn({ why }, cannot === null ? WRITES_STOP : wayOut)
      if (why === null && before !== null)
        log.info({}, 'a standby would take the journal over again')
      if (why === null) return true
      if (cannot !== null || goneSinceMs === null) return false
      return timers.elapsed() - goneSinceMs >= UNFIT_WAITS_MS
    },
  }
}

/**
 * Whether the owner has said nothing even by the time that a write of this one's own was stored: where
 * the journal's disk is slow, an owner's word that it lives waits for it as this does.
 */
async function staysSilent(
  { journal, partition }: Pick<WatchOwnerOptions, 'journal' | 'partition'>,
  sign: string,
): Promise<boolean> {
  await prove(journal, partition)
  return signOf(await journal.look(partition)) === sign
}

/** Changes with all that the owner does to be seen; one before it may go on, and is none any more. */
function signOf({ epoch, beat }: JournalHead): string {
  return beat?.epoch === epoch ? `${epoch} ${beat.count}` : `${epoch}`
}

function isLeft({ epoch, beat }: JournalHead): boolean {
  return beat !== null && beat.epoch === epoch && beat.state === 'leaves'
}
