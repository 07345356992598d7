import { CLOCK_ERROR_MAX_MS } from '../domain/clock.js'
import { type Fault, fault } from '../errors/fault.js'
import type { ChainTime } from './chain-time.js'

/**
 * The time by which everything is decided: caps, keys, idempotency. It is the machine's clock while
 * the chains agree with it. While they disagree, one of them is wrong and the service cannot tell
 * which: no call that moves value is started, and time continues from where both last agreed. A
 * clock set ahead then opens no window, ends no key and forgets no answered request, and one set
 * back brings none back. Before the first block nothing is verified and nothing is started: a call
 * that moves value needs a chain anyway.
 *
 * Together with `rollForward` (domain/spend.ts) it protects the caps: a window is opened by a time
 * on which both agreed, hence at most `CLOCK_ERROR_MAX_MS` early, and no agreed step back is large
 * enough to make an open window implausible.
 */
export interface ServiceClock {
  /** Whole milliseconds since the Unix epoch. */
  nowMs(): number
  /**
   * The same time when the chains confirm it now, otherwise null. It is for removing expired
   * records, which is final: that can wait, and must not depend on a clock that may be wrong.
   */
  verifiedNowMs(): number | null
  /**
   * The later of both clocks while they disagree and have not agreed since the start, otherwise the
   * same as `nowMs`. It decides whether a key has ended: a lagging chain that answers first must
   * not revive one, and a key that is refused too early works again once the clock is right.
   */
  latestMs(): number
  /**
   * The machine's clock minus the chains' time (the nearer one when two count); null until a block
   * was seen.
   */
  aheadMs(): number | null
  /** Why no call that moves value may start, or null. */
  refusal(): Fault | null
}

interface ServiceClockOptions {
  readonly chainTime: ChainTime
  /** The machine's clock, milliseconds since the Unix epoch. */
  readonly machineMs?: () => number
  readonly monotonicMs?: () => number
}

/**
 * For this long after an agreement, while the machine's clock makes no step, the clocks are not
 * compared again: a comparison costs three times the rest of a read, and a step or drift within
 * this time is a thousandth of the tolerance.
 */
const COMPARED_EVERY_MS = 100

export function createServiceClock(options: ServiceClockOptions): ServiceClock {
  const { chainTime, machineMs = Date.now, monotonicMs = () => performance.now() } = options
  /** The time minus the monotonic clock at the last agreement of machine and chains. */
  let agreed: number | null = null
  /** The machine's time at that agreement. */
  let agreedAtMs = Number.NEGATIVE_INFINITY

  function aheadMs(): number | null {
    const machine = machineMs()
    const chains = chainTime.nearestMs(machine)
    return chains === null ? null : machine - chains
  }

  function isVerified(machine: number): boolean {
    const sinceMs = machine - agreedAtMs
    if (sinceMs >= 0 && sinceMs < COMPARED_EVERY_MS) return true
    const chains = chainTime.nearestMs(machine)
    if (chains === null || Math.abs(machine - chains) > CLOCK_ERROR_MAX_MS) return false
    agreed = machine - monotonicMs()
    agreedAtMs = machine
    return true
  }

  /** @param unagreed chooses between the clocks when they have never agreed */
  function timeBy(unagreed: (machine: number, chains: number) => number): number {
    const machine = machineMs()
    if (isVerified(machine)) return machine
    const chains = chainTime.nearestMs(machine)
    if (chains === null) return machine
    // The monotonic clock has fractions of milliseconds, which ids and integers cannot have.
    return Math.floor(agreed === null ? unagreed(machine, chains) : agreed + monotonicMs())
  }

  return {
    // A time that is too early removes nothing and opens no window again.
    nowMs: () => timeBy(Math.min),
    latestMs: () => timeBy(Math.max),
    verifiedNowMs() {
      const machine = machineMs()
      return isVerified(machine) ? machine : null
    },
    aheadMs,
    refusal() {
      if (isVerified(machineMs())) return null
      const error = aheadMs()
      return error === null
        ? fault('WRITES_STOPPED', { reason: 'clock' }, UNCHECKED)
        : fault('WRITES_STOPPED', { reason: 'clock' }, clockSentence(error))
    },
  }
}

const UNCHECKED =
  'No block has been seen to check the clock against, so writes are stopped until one is; reads go on.'

/** Describes the difference in words; negative means behind. */
function clockSentence(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  const side = aheadMs < 0 ? 'behind' : 'ahead of'
  return `The service's clock is ${seconds} s ${side} the newest blocks, so writes are stopped; reads go on.`
}
