import type { Alarm, Timers } from '../clock/timers.js'
import type { Journal } from './journal.js'

/** Says that the owner of a journal lives, so that a standby waits, and how it ends. */
export interface OwnerBeats {
  /** @param stored seq of the last entry that is known to be stored, by then */
  begin(epoch: number, stored: () => number): void
  /** Says that nobody goes on here. Resolves once it was said, or was not in time. */
  leave(): Promise<void>
  /** Says that it lives for one more time: another service on this store goes on. Resolves as `leave`. */
  handOver(): Promise<void>
}

const BEAT_MS = 500

/** A service that ends is not held up by a journal that is away. */
const LEAVE_MS = 2_000

export function createOwnerBeats(
  journal: Pick<Journal, 'beat'>,
  partition: number,
  timers: Pick<Timers, 'now' | 'at'>,
): OwnerBeats {
  let said = { epoch: 0, stored: () => 0 }
  let alarm: Alarm | null = null
  let isEnding = false
  let last: Promise<void> = Promise.resolve()

  function beat(state: 'lives' | 'leaves'): Promise<void> {
    // What it is not told of, a standby takes for silence.
    return journal.beat(partition, said.epoch, said.stored(), state).catch(() => undefined)
  }

  function again(): void {
    last = beat('lives').then(() => {
      if (!isEnding) alarm = timers.at(timers.now() + BEAT_MS, again)
    })
  }

  async function end(state: 'lives' | 'leaves'): Promise<void> {
    if (said.epoch === 0) return
    isEnding = true
    alarm?.cancel()
    await Promise.race([
      last.then(() => beat(state)),
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
