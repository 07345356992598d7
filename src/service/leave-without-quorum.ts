import type { Alarm, Timers } from '../clock/timers.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'

export interface LeaveOptions {
  readonly reach: () => QuorumReach
  /**
   * Ends this service where a node waits that reaches both others itself.
   * @param isStillSo asked before it ends
   * @returns whether it does
   */
  readonly leave: (isStillSo: () => boolean) => Promise<boolean>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
}

const LOOK_MS = 250
/** A quorum signer that is started again is back within two seconds; one that stands still is missed after four. */
const AWAY_MS = 3_000
/** Where nobody waits who could do better. Each question is two rows of the journal. */
const ASKED_EVERY_MS = 10_000

/**
 * An owner that lives and signs nothing would keep its users waiting, and nobody would take its place: it
 * leaves its journal to a node that reaches the identity provider and a quorum signer of its own.
 * @returns ends that
 */
export function leaveWithoutQuorum({ reach, leave, timers, log }: LeaveOptions): () => void {
  let awaySinceMs: number | null = null
  let askedMs = Number.NEGATIVE_INFINITY
  let isAsking = false
  let isOver = false
  let alarm: Alarm

  /** One that answers and refuses this node would refuse the next one as well. */
  function isAway(): boolean {
    const { identityProvider, quorumSigner, fenced } = reach()
    return !fenced && !(identityProvider && quorumSigner)
  }

  async function ask(): Promise<void> {
    isAsking = true
    try {
      const leaves = await leave(isAway)
      if (leaves) log.warn({}, 'another node signs where this one reaches nobody to sign with')
    } catch (err) {
      log.error({ err }, 'nobody could be asked to go on in the place of this node')
    }
    isAsking = false
    askedMs = timers.elapsed()
  }

  function look(): void {
    const nowMs = timers.elapsed()
    if (isAway()) awaySinceMs ??= nowMs
    else awaySinceMs = null
    const isLong = awaySinceMs !== null && nowMs - awaySinceMs >= AWAY_MS
    if (isLong && !isAsking && nowMs - askedMs >= ASKED_EVERY_MS) void ask()
    if (!isOver) alarm = timers.at(timers.now() + LOOK_MS, look)
  }

  look()
  return () => {
    isOver = true
    alarm.cancel()
  }
}
