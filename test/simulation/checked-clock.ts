import {
  attachChainTime,
  createChainTimeBuffer,
  keepChainTime,
  type TimedHead,
} from '../../src/clock/chain-time.js'
import { createServiceClock, type ServiceClock } from '../../src/clock/service-clock.js'
import type { Timers } from '../../src/clock/timers.js'
import { type Clock, timersBy } from './clocks.js'
import type { Draw } from './random.js'
import type { Life, Scheduler } from './scheduler.js'

/** The time that one start of the service decides by, and each of its threads: its own code's. */
export interface CheckedTime {
  /** By a clock of its own for each thread, over what the main one heard of the chains. */
  threadTimers(): Timers
  readonly main: ServiceClock
  readonly mainTimers: Timers
  onHead(head: TimedHead): void
}

/** @param trustsMachine a fault to be found: chains are not listened to */
export function checkedTime(
  clock: Clock,
  scheduler: Scheduler,
  life: Life,
  entropy: Draw,
  trustsMachine: boolean,
): CheckedTime {
  const monotonicMs = clock.elapsed
  const buffer = createChainTimeBuffer()
  const onHead = keepChainTime(buffer, { monotonicMs })
  const serviceClock = () => {
    const chainTime = trustsMachine
      ? { nearestMs: (machineMs: number) => machineMs }
      : attachChainTime(buffer, { monotonicMs })
    return createServiceClock({ chainTime, monotonicMs, machineMs: clock.now })
  }
  const timersOf = (of: ServiceClock) => timersBy(clock, scheduler, life, entropy, of.nowMs)
  const main = serviceClock()
  return {
    ...{ main, onHead, mainTimers: timersOf(main) },
    threadTimers: () => timersOf(serviceClock()),
  }
}
