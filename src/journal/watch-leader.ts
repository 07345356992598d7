import { sleep, type Timers } from '../clock/timers.js'
import { type Journal, type JournalHead, JournalUnavailable } from './journal.js'
import { prove } from './proven.js'

interface WatchLeaderOptions {
  readonly journal: Pick<Journal, 'readHead' | 'trim'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Called before each poll; its errors are thrown, except `JournalUnavailable`. */
  readonly prepare: () => Promise<void>
  /** Called after each poll: applies what the leader has stored, and reports progress. */
  readonly follow: (head: JournalHead, hindrance: string | null) => Promise<void>
  /** Whether this side has records to continue with, when the journal has no entries. */
  readonly hasRecords: () => boolean
  /**
   * Why this side could not lead; null if it could. Called now and then and before each failover,
   * which does not happen while there is a reason.
   */
  readonly hindrance: () => Promise<string | null>
  /**
   * Why this side, as leader, would refuse writes but serve reads; null if it would refuse none, as
   * far as it knows. Reported like a hindrance, but delays a failover by no more than
   * `UNFIT_WAITS_MS`. If absent, it would refuse none.
   */
  readonly writesStop?: () => string | null
  /**
   * Whether another node should take over from a leader that is gone, and still has time to.
   * @param quietMs time since the leader was last seen to do anything; if absent, the first node
   * takes over
   */
  readonly isAnothers?: (head: JournalHead, quietMs: number) => Promise<boolean>
  /**
   * Failovers since a leader last stayed for `SETTLES_MS`, including the latest. Defaults to none.
   */
  readonly failovers?: () => number
  /**
   * Called between two polls, for the time given; its errors are thrown. If absent, nothing is
   * done.
   */
  readonly rest?: (forMs: number) => Promise<void>
  /** How to remove a hindrance, for the log. */
  readonly wayOut: string
}

/** Pause between two polls of one row each; a leader sends a heartbeat twice a second. */
const POLL_MS = 100

/**
 * Failure-detection timeout: a leader that is silent for longer is taken for gone. A leader that
 * still lives, frozen or cut off, is fenced by that and loses nothing, but its users wait for a
 * restart. Five missed heartbeats in a row are no ordinary pause of a process or network.
 */
export const LEADER_SILENT_MS = 2_500

/**
 * A leader that has just acquired the journal starts its threads and reconnects to everything, on a
 * machine that may be starting another node as well. For this time it may be silent for longer.
 */
export const SETTLES_MS = 8_000
export const NEW_LEADER_SILENT_MS = 6_000

/**
 * Upper bound of the factor by which the timeout grows when failovers follow one another, as on
 * overloaded machines.
 */
const BACK_OFF_MAX = 8

/**
 * How long a leader may be silent.
 * @param ageMs time since it was first seen as the leader
 * @param failovers as in `WatchLeaderOptions`; from the second on, each doubles the timeout
 */
function patienceMs(ageMs: number, failovers: number): number {
  const factor = Math.min(2 ** Math.max(0, failovers - 1), BACK_OFF_MAX)
  const usual = LEADER_SILENT_MS * factor
  return ageMs < SETTLES_MS ? Math.max(usual, NEW_LEADER_SILENT_MS) : usual
}

/** A key that expires or is removed is noticed within this time, and at once before a failover. */
const HINDRANCE_POLL_MS = 10_000
/**
 * A shorter pause while a hindrance lasts, because an operator may be removing it and the journal
 * may have no leader.
 */
const HINDERED_POLL_MS = 1_000

/**
 * A standby that would refuse writes leaves a journal without leader to the others for this long;
 * they acquire it within a second. Then it acquires the journal itself: if all standbys have such a
 * reason, or it is the only one, nobody would serve reads otherwise, and the reason passes as well
 * for a leader as for a standby. A standby that cannot sign never acquires it, since its start
 * would fail at its keys.
 */
export const UNFIT_WAITS_MS = 5_000

/**
 * An answer that takes longer means that the journal was unavailable, for example while an engine
 * elected another node. The leader could not send heartbeats either, and its next one may come
 * after the next poll.
 */
const SLOW_POLL_MS = 1_000

const WRITES_STOP =
  'this standby would refuse writes, so it takes over only after the others. Remove the reason that stops writes'

const NOTHING_THERE =
  'the journal has no entries and this store has no records, so this standby does not take over. Start the service that has the records, or that should be the first, with the role owner'

/**
 * Polls the leader of a journal until it reports that it leaves, or is silent for too long by this
 * machine's clock. While the journal does not answer, silence cannot be judged: it is counted from
 * zero again, and no answer counts for a time after its request was sent.
 *
 * A node without records does not acquire a journal without entries, because there is nothing to
 * continue with. It would begin a separate installation beside the one whose leader has yet to
 * start.
 * @returns the epoch of the leader that is gone
 */
export async function watchUntilLeaderIsGone(options: WatchLeaderOptions): Promise<number> {
  const {
    journal,
    partition,
    timers,
    log,
    isAnothers = async () => false,
    failovers = () => 0,
  } = options
  let sign = ''
  let silentSinceMs = timers.elapsed()
  let epoch = -1
  let leaderSinceMs = silentSinceMs
  let goneSinceMs: number | null = null
  let isAway = false
  let isTold = false
  const hindered = followHindrance(options)
  for (;;) {
    try {
      await options.prepare()
      const askedMs = timers.elapsed()
      const head = await journal.readHead(partition)
      if (isAway) log.info({}, 'the journal answers again')
      const isLate = timers.elapsed() - askedMs > SLOW_POLL_MS
      const isNew = isAway || signOf(head) !== sign
      if (isNew || isLate) silentSinceMs = timers.elapsed()
      if (isNew) goneSinceMs = null
      isAway = false
      sign = signOf(head)
      if (head.epoch !== epoch) leaderSinceMs = askedMs
      epoch = head.epoch
      const patience = patienceMs(askedMs - leaderSinceMs, failovers())
      const isSilent = askedMs - silentSinceMs > patience
      if (head.seq > 0 || options.hasRecords()) {
        const isLeaderless = isLeft(head) || isSilent
        const quietMs = askedMs - silentSinceMs
        const isGone = isLeaderless && !(await isAnothers(head, quietMs))
        // Called before the last poll of the leader, because checking keys may take long.
        if (isGone) goneSinceMs ??= timers.elapsed()
        else goneSinceMs = null
        const mayAcquire = await hindered.mayAcquire(goneSinceMs)
        if (isGone && mayAcquire && (isLeft(head) || (await staysSilent(options, sign)))) {
          return head.epoch
        }
      } else if (isLeft(head) || isSilent) {
        if (!isTold) log.warn({}, NOTHING_THERE)
        isTold = true
      }
      await options.follow(head, hindered.why)
    } catch (err) {
      if (!(err instanceof JournalUnavailable)) throw err
      if (!isAway) log.warn({ err }, 'the journal does not answer, so its leader cannot be seen')
      isAway = true
    }
    await (options.rest?.(POLL_MS) ?? sleep(timers, POLL_MS))
  }
}

function followHindrance(options: WatchLeaderOptions) {
  const { hindrance, writesStop = () => null, wayOut, timers, log } = options
  /** The result of the last check, unless that is too long ago. */
  let cannot: string | null = null
  let askedMs = Number.NEGATIVE_INFINITY
  let why: string | null = null

  async function ask(isGone: boolean): Promise<void> {
    const untilNextMs = isGone ? 0 : HINDRANCE_POLL_MS
    const everyMs = cannot === null ? untilNextMs : HINDERED_POLL_MS
    if (timers.elapsed() - askedMs < everyMs) return
    askedMs = timers.elapsed()
    cannot = await hindrance()
  }

  return {
    /** The reason that is reported to others. */
    get why() {
      return why
    },
    /** @param goneSinceMs since when there is no leader; null if there is one */
    async mayAcquire(goneSinceMs: number | null): Promise<boolean> {
      await ask(goneSinceMs !== null)
      const before = why
      why = cannot ?? writesStop()
      if (why !== null && why !== before) log.warn({ why }, cannot === null ? WRITES_STOP : wayOut)
      if (why === null && before !== null) log.info({}, 'this standby can take over again')
      if (why === null) return true
      if (cannot !== null || goneSinceMs === null) return false
      return timers.elapsed() - goneSinceMs >= UNFIT_WAITS_MS
    },
  }
}

/**
 * Whether the leader is still silent after a write of this node was stored. If the journal's disk
 * is slow, the leader's heartbeat waits for it as this write does.
 */
async function staysSilent(
  { journal, partition }: Pick<WatchLeaderOptions, 'journal' | 'partition'>,
  sign: string,
): Promise<boolean> {
  await prove(journal, partition)
  return signOf(await journal.readHead(partition)) === sign
}

/**
 * Changes whenever the leader shows activity. A previous leader may still run but no longer counts.
 */
function signOf({ epoch, beat }: JournalHead): string {
  return beat?.epoch === epoch ? `${epoch} ${beat.count}` : `${epoch}`
}

function isLeft({ epoch, beat }: JournalHead): boolean {
  return beat !== null && beat.epoch === epoch && beat.state === 'leaves'
}
