import type { Alarm, Timers } from '../clock/timers.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'

export interface LeaveOptions {
  readonly reach: () => QuorumReach
  /** Ends this service where a node waits that reaches both others itself. @returns whether it does */
  readonly leave: () => Promise<boolean>
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
  let isOver = false
  let alarm: Alarm

  async function ask(nowMs: number): Promise<void> {
    askedMs = nowMs
    try {
      if (await leave())
        log.warn({}, 'another node signs where this one reaches nobody to sign with')
    } catch (err) {
      log.error({ err }, 'nobody could be asked to go on in the place of this node')
    }
  }

  function look(): void {
    const nowMs = timers.elapsed()
    const { identityProvider, quorumSigner, complete, fenced } = reach()
    // One that stands still is missed before its connection is.
    const isWhole = identityProvider && quorumSigner && complete
    if (isWhole || fenced) awaySinceMs = null
    else awaySinceMs ??= nowMs
    const isAway = awaySinceMs !== null && nowMs - awaySinceMs >= AWAY_MS
    if (isAway && nowMs - askedMs >= ASKED_EVERY_MS) void ask(nowMs)
    if (!isOver) alarm = timers.at(timers.now() + LOOK_MS, look)
  }

  look()
  return () => {
    isOver = true
    alarm.cancel()
  }
}
