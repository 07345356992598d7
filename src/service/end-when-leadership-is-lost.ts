import type { Alarm, Timers } from '../clock/timers.js'
import type { Journal } from '../journal/journal.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'

interface LostLeadershipOptions {
  readonly journal: Pick<Journal, 'readHead'>
  readonly leadership: { readonly epoch: number; readonly cell: { readonly number: number } }
  readonly reach: () => Pick<QuorumReach, 'fenced'>
  /** Called once, when another node has acquired the journal. */
  readonly onLost: (error: Error) => void
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
}

const POLL_MS = 500
/** After a pause this long, another node may have acquired the journal. */
const STOOD_STILL_MS = 2_000

/**
 * Ends a leader that lost the journal while its process was paused. Without this check it would
 * notice only at its next append, and until then answer reads from an outdated store, for example
 * with keys that were revoked since. So it reads the journal's head after every long pause, and
 * whenever the identity provider reports a later service start.
 *
 * That report is not enough to end the service: a copy of this home causes the same report, and a
 * restart would fence the copy in turn.
 * @returns a function that stops the check
 */
export function endWhenLeadershipIsLost(options: LostLeadershipOptions): () => void {
  const { journal, leadership, reach, onLost, timers } = options
  let lastMs = timers.elapsed()
  let isInDoubt = false
  let isAsking = false
  let isOver = false
  let alarm: Alarm

  async function ask(): Promise<void> {
    isAsking = true
    isInDoubt = false
    try {
      const { epoch } = await journal.readHead(leadership.cell.number)
      if (epoch > leadership.epoch && !isOver) {
        isOver = true
        onLost(
          new Error(
            `another node leads the journal, with epoch ${epoch}; this one had epoch ${leadership.epoch}`,
          ),
        )
      }
    } catch {
      // It tries again. While it cannot reach the journal it cannot write either.
      isInDoubt = true
    }
    isAsking = false
  }

  function poll(): void {
    const nowMs = timers.elapsed()
    if (nowMs - lastMs > STOOD_STILL_MS) isInDoubt = true
    lastMs = nowMs
    if ((isInDoubt || reach().fenced) && !isAsking) void ask()
    if (!isOver) alarm = timers.at(timers.now() + POLL_MS, poll)
  }

  poll()
  return () => {
    isOver = true
    alarm.cancel()
  }
}
