import type { Alarm, Timers } from '../clock/timers.js'
import { SETTLES_MS } from '../journal/watch-leader.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'

interface StepDownOptions {
  readonly reach: () => QuorumReach
  /**
   * Why this node refuses writes that another node would accept; null if it refuses none for such a
   * reason.
   */
  readonly writesStop: () => string | null
  /**
   * Whether a standby waits for the journal. Without one the question is not asked, because it is a
   * write.
   */
  readonly isFollowed: () => boolean
  /**
   * Ends this service if a standby is ready to accept writes.
   * @param isStillSo called before the service ends; it stays if this returns false
   * @returns whether it ends
   */
  readonly leave: (isStillSo: () => boolean) => Promise<boolean>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

const POLL_MS = 250
/**
 * The identity provider's own failover took up to 5.3 s in tests where its leader was paused, and
 * its standby may be reached by another node a moment before this one. After twice that time, only
 * this node fails to reach it.
 */
export const IDENTITY_AWAY_MS = 11_000
/**
 * A restarted quorum signer is back within two seconds; a paused one is reported missing after
 * four.
 */
export const QUORUM_SIGNER_AWAY_MS = 3_000
/** A clock step, a full disk and an outdated list do not pass by themselves within moments. */
export const WRITES_STOPPED_MS = 500
/**
 * Pause between two questions when no standby is ready. Each question writes two rows to the
 * journal.
 */
const ASKED_EVERY_MS = 10_000

interface Reason {
  readonly patienceMs: number
  /** The same, of a leader in which the reason has held since it began to lead. */
  readonly firstPatienceMs: number
  /** @returns the reason as text; null if it does not hold */
  readonly why: () => string | null
}

/**
 * Makes a leader that cannot sign, or that refuses writes for a reason of its own, leave the
 * journal to a standby that is ready to accept writes. Otherwise its users would wait, because no
 * standby takes over while the leader lives. A leader that the identity provider answers but
 * refuses stays, since its successor would be refused as well. A new leader connects to its quorum
 * signer while its machine may be busy with the failover, and is given as long as its heartbeats
 * are: otherwise one failover would bring about the next.
 * @returns a function that stops the check
 */
export function stepDown(options: StepDownOptions): () => void {
  const { reach, writesStop, isFollowed, leave, timers, log } = options
  const reasons: readonly Reason[] = [
    {
      patienceMs: IDENTITY_AWAY_MS,
      firstPatienceMs: IDENTITY_AWAY_MS,
      why: () => unless(reach().fenced || reach().identityProvider, 'no identity provider answers'),
    },
    {
      patienceMs: QUORUM_SIGNER_AWAY_MS,
      firstPatienceMs: SETTLES_MS,
      why: () =>
        unless(reach().fenced || reach().quorumSigner, 'its quorum signer does not answer'),
    },
    { patienceMs: WRITES_STOPPED_MS, firstPatienceMs: WRITES_STOPPED_MS, why: writesStop },
  ]
  const sinceMs = new Map<Reason, number>()
  const passedOnce = new Set<Reason>()
  let askedMs = Number.NEGATIVE_INFINITY
  let isAsking = false
  let isOver = false
  let alarm: Alarm

  async function ask(reason: Reason, why: string): Promise<void> {
    isAsking = true
    try {
      const leaves = await leave(() => reason.why() !== null)
      if (leaves) log.warn({ why }, 'this leader steps down: another node is ready to take writes')
    } catch (err) {
      log.error({ err, why }, 'this leader could not ask the standbys to take over')
    }
    isAsking = false
    askedMs = timers.elapsed()
  }

  function poll(): void {
    const nowMs = timers.elapsed()
    for (const reason of reasons) {
      const why = reason.why()
      if (why === null) {
        sinceMs.delete(reason)
        passedOnce.add(reason)
        continue
      }
      const since = sinceMs.get(reason) ?? nowMs
      sinceMs.set(reason, since)
      const patienceMs = passedOnce.has(reason) ? reason.patienceMs : reason.firstPatienceMs
      const isLong = nowMs - since >= patienceMs
      const mayAsk = !isAsking && nowMs - askedMs >= ASKED_EVERY_MS
      if (isLong && mayAsk && isFollowed()) void ask(reason, why)
    }
    if (!isOver) alarm = timers.at(timers.now() + POLL_MS, poll)
  }

  poll()
  return () => {
    isOver = true
    alarm.cancel()
  }
}

function unless(isSo: boolean, why: string): string | null {
  return isSo ? null : why
}
