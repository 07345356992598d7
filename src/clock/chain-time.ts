/**
 * The time as the chains tell it: when their newest blocks were made, carried on by the monotonic
 * clock, which no one sets. The main thread writes it, every thread reads it.
 *
 * A block is never younger than it says, but for what a lying node makes of it, so that a chain's
 * time lags by its delay and is never ahead. The median of the chains is taken: chains that have
 * stopped, or nodes that lie or lag, cannot move it past the others while they are fewer. Of an even
 * number both in the middle count, and a clock that either bears out is right: of two chains one may
 * have stopped before the start. A single chain that lags cannot be told from a clock that is ahead.
 * A chain that falls silent goes on by the monotonic clock.
 */
export interface ChainTime {
  /**
   * Milliseconds since the epoch; null until a block was seen.
   * @param machineMs of two in the middle, the one that is nearer to it is answered
   */
  nearestMs(machineMs: number): number | null
}

export interface ChainTimeOptions {
  /** Milliseconds of a clock that never steps and is the same for all threads of the process. */
  readonly monotonicMs: () => number
}

/**
 * The earlier and the later of those in the middle. Seconds of the epoch at the monotonic clock's
 * zero; 0: not known. In 32 bits until 2106. Each counts by itself, so that they need not be read
 * together.
 */
const PLACES = 2
const BYTES = 4

export function createChainTimeBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(PLACES * BYTES)
}

export function attachChainTime(
  buffer: SharedArrayBuffer,
  { monotonicMs }: ChainTimeOptions = { monotonicMs: processMonotonicMs },
): ChainTime {
  const places = new Uint32Array(buffer)
  return {
    nearestMs(machineMs) {
      const earlier = Atomics.load(places, 0)
      const later = Atomics.load(places, 1)
      if (earlier === 0 || later === 0) return null
      const sinceZeroMs = monotonicMs()
      const earlierMs = earlier * 1_000 + sinceZeroMs
      const laterMs = later * 1_000 + sinceZeroMs
      return machineMs - earlierMs <= laterMs - machineMs ? earlierMs : laterMs
    },
  }
}

/** A block as far as its time goes. */
export interface TimedHead {
  readonly chainId: number
  readonly hash: string
  readonly timestampMs: number
}

/** @returns what to call with each new head */
export function keepChainTime(
  buffer: SharedArrayBuffer,
  { monotonicMs }: ChainTimeOptions = { monotonicMs: processMonotonicMs },
): (head: TimedHead) => void {
  const places = new Uint32Array(buffer)
  const chains = new Map<number, { readonly hash: string; readonly atZeroMs: number }>()
  return ({ chainId, hash, timestampMs }) => {
    // The same block once more would be taken for one that took longer to come.
    if (chains.get(chainId)?.hash === hash) return
    chains.set(chainId, { hash, atZeroMs: timestampMs - monotonicMs() })
    const sorted = [...chains.values()].map(({ atZeroMs }) => atZeroMs).sort((a, b) => a - b)
    const last = sorted.length - 1
    for (const [place, middle] of [Math.floor(last / 2), Math.ceil(last / 2)].entries()) {
      Atomics.store(places, place, Math.max(1, Math.round((sorted[middle] ?? 0) / 1_000)))
    }
  }
}

/** Since an arbitrary moment, the same for all threads. `performance` begins anew in each. */
function processMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
