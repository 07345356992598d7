import { CLOCK_ERROR_MAX_MS } from '../domain/clock.js'
import { type Fault, fault } from '../errors/fault.js'
import type { ChainTime } from './chain-time.js'

/**
 * The time that everything is decided by: caps, keys, idempotency. It is the machine's while the
 * chains bear it out. While they do not, one of both is wrong and nobody here can say which: nothing
 * that moves value is begun, and time goes on from where both last agreed, so that a clock that is
 * set ahead opens no window, ends no key and forgets no answered request, and one that is set back
 * brings none back. Before the first block nothing bears it out, and nothing is begun either: what
 * moves value needs a chain anyway.
 *
 * With `rollForward` (domain/spend.ts) it keeps the caps: a window is opened by a time that both
 * agreed on, hence at most `CLOCK_ERROR_MAX_MS` early, and no step back that both agree on is large
 * enough to take it for one that cannot be yet.
 */
export interface ServiceClock {
  /** Whole milliseconds since the epoch. */
  nowMs(): number
  /**
   * The same where the chains bear it out now, else null: for what is removed for good because it
   * is old. That can wait, and must not be done by a clock that may be wrong.
   */
  borneOutMs(): number | null
  /**
   * The later of both while they disagree and never agreed since the start, else the same as
   * `nowMs`: for whether a key has ended. A chain that lags and answers first must not bring one
   * back, and a key that is refused too early is served again once the clock is right.
   */
  latestMs(): number
  /** The machine's clock less the chains' time (of the one that is nearest where two count); null until a block was seen. */
  aheadMs(): number | null
  /** Why nothing that moves value may begin, or null. */
  refusal(): Fault | null
}

export interface ServiceClockOptions {
  readonly chainTime: ChainTime
  /** The machine's, milliseconds since the epoch. */
  readonly machineMs?: () => number
  readonly monotonicMs?: () => number
}

/**
 * For so long after both agreed, while the machine's clock goes on without a step, they are not
 * compared again: a comparison costs a read thrice what it asks, and a step or a drift within it is
 * a thousandth of what is borne with anyway.
 */
const COMPARED_EVERY_MS = 100

export function createServiceClock(options: ServiceClockOptions): ServiceClock {
  const { chainTime, machineMs = Date.now, monotonicMs = () => performance.now() } = options
  /** The time less the monotonic clock, where machine and chains last agreed. */
  let agreed: number | null = null
  /** The machine's, then. */
  let agreedAtMs = Number.NEGATIVE_INFINITY

  function aheadMs(): number | null {
    const machine = machineMs()
    const chains = chainTime.nearestMs(machine)
    return chains === null ? null : machine - chains
  }

  function isBorneOut(machine: number): boolean {
    const sinceMs = machine - agreedAtMs
    if (sinceMs >= 0 && sinceMs < COMPARED_EVERY_MS) return true
    const chains = chainTime.nearestMs(machine)
    if (chains === null || Math.abs(machine - chains) > CLOCK_ERROR_MAX_MS) return false
    agreed = machine - monotonicMs()
    agreedAtMs = machine
    return true
  }

  /** @param unagreed which of both it is where they never agreed */
  function timeBy(unagreed: (machine: number, chains: number) => number): number {
    const machine = machineMs()
    if (isBorneOut(machine)) return machine
    const chains = chainTime.nearestMs(machine)
    if (chains === null) return machine
    // The monotonic clock has fractions of milliseconds, of which no id and no integer can be made.
    return Math.floor(agreed === null ? unagreed(machine, chains) : agreed + monotonicMs())
  }

  return {
    // Too early a time removes nothing, and hands out no window anew.
    nowMs: () => timeBy(Math.min),
    latestMs: () => timeBy(Math.max),
    borneOutMs() {
      const machine = machineMs()
      return isBorneOut(machine) ? machine : null
    },
    aheadMs,
    refusal() {
      if (isBorneOut(machineMs())) return null
      const error = aheadMs()
      return error === null
        ? fault('WRITES_STOPPED', { reason: 'clock' }, UNCHECKED)
        : fault('WRITES_STOPPED', { reason: 'clock' }, clockSentence(error))
    },
  }
}

const UNCHECKED =
  'No block was seen yet to check the clock by, so writes are stopped until one is; reads go on.'

/** In plain words; negative is behind. */
export function clockSentence(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  const side = aheadMs < 0 ? 'behind' : 'ahead of'
  return `The service's clock is ${seconds} s ${side} the newest blocks, so writes are stopped; reads go on.`
}
