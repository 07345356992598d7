/**
 * The time according to the chains: the timestamps of their newest blocks, carried on by the
 * monotonic clock, which no one can set. The main thread writes it, every thread reads it.
 *
 * A block is never younger than its timestamp unless a node lies, so a chain's time lags by its
 * delay and is never ahead. The median of the chains is used: stopped chains, and nodes that lie or
 * lag, cannot move it past the others while they are a minority. With an even number, both middle
 * values count, and a clock that agrees with either is right: of two chains one may have stopped
 * before the start. A single lagging chain cannot be told from a clock that is ahead. A chain
 * without new blocks continues by the monotonic clock.
 */
export interface ChainTime {
  /**
   * Milliseconds since the Unix epoch; null until a block was seen.
   * @param machineMs selects the nearer of two middle values
   */
  nearestMs(machineMs: number): number | null
}

interface ChainTimeOptions {
  /** Milliseconds of a clock that never steps and is the same for all threads of the process. */
  readonly monotonicMs: () => number
}

/**
 * The earlier and the later middle value, as Unix seconds at the zero of the monotonic clock; 0
 * when unknown. They fit in 32 bits until 2106. Each counts by itself, so they need not be read
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

/** The part of a block that its time needs. */
export interface TimedHead {
  readonly chainId: number
  readonly hash: string
  readonly timestampMs: number
}

/** @returns a function to call with each new head */
export function keepChainTime(
  buffer: SharedArrayBuffer,
  { monotonicMs }: ChainTimeOptions = { monotonicMs: processMonotonicMs },
): (head: TimedHead) => void {
  const places = new Uint32Array(buffer)
  const chains = new Map<number, { readonly hash: string; readonly atZeroMs: number }>()
  return ({ chainId, hash, timestampMs }) => {
    // A repeated block would look like one with a longer delay.
    if (chains.get(chainId)?.hash === hash) return
    chains.set(chainId, { hash, atZeroMs: timestampMs - monotonicMs() })
    const sorted = [...chains.values()].map(({ atZeroMs }) => atZeroMs).sort((a, b) => a - b)
    const last = sorted.length - 1
    for (const [place, middle] of [Math.floor(last / 2), Math.ceil(last / 2)].entries()) {
      Atomics.store(places, place, Math.max(1, Math.round((sorted[middle] ?? 0) / 1_000)))
    }
  }
}

/**
 * Milliseconds since an arbitrary moment, the same for all threads. `performance` starts at zero in
 * each thread.
 */
function processMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
