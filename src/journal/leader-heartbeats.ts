import type { Alarm, Timers } from '../clock/timers.js'
import type { Journal } from './journal.js'

/** Sends the heartbeats of a journal's leader, so that standbys wait, and reports how it ends. */
export interface LeaderHeartbeats {
  /** @param stored returns the seq of the last entry that is known to be stored */
  begin(epoch: number, stored: () => number): void
  /**
   * Reports that this leader ends without a successor here. Resolves once that was sent or the time
   * is up.
   */
  leave(): Promise<void>
  /**
   * Sends one more heartbeat, because another service on this store continues. Resolves as `leave`.
   */
  handOver(): Promise<void>
}

const HEARTBEAT_MS = 500

/** The end of a service is not delayed longer than this by a journal that does not answer. */
export const LEAVE_MS = 2_000

export function createLeaderHeartbeats(
  journal: Pick<Journal, 'heartbeat'>,
  partition: number,
  timers: Pick<Timers, 'now' | 'at'>,
): LeaderHeartbeats {
  let said = { epoch: 0, stored: () => 0 }
  let alarm: Alarm | null = null
  let isEnding = false
  let last: Promise<void> = Promise.resolve()

  function heartbeat(state: 'lives' | 'leaves'): Promise<void> {
    // A standby treats a heartbeat that did not arrive as silence, so errors are ignored.
    return journal.heartbeat(partition, said.epoch, said.stored(), state).catch(() => undefined)
  }

  function again(): void {
    last = heartbeat('lives').then(() => {
      if (!isEnding) alarm = timers.at(timers.now() + HEARTBEAT_MS, again)
    })
  }

  async function end(state: 'lives' | 'leaves'): Promise<void> {
    if (said.epoch === 0) return
    isEnding = true
    alarm?.cancel()
    await Promise.race([
      last.then(() => heartbeat(state)),
      new Promise<void>((resolve) => timers.at(timers.now() + LEAVE_MS, resolve)),
    ])
  }

  return {
    begin(epoch, stored) {
      const isFirst = said.epoch === 0
      said = { epoch, stored }
      if (isFirst) again()
    },
    leave: () => end('leaves'),
    handOver: () => end('lives'),
  }
}
