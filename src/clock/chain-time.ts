/**
 * The time as the chains tell it: when their newest blocks were made, carried on by the monotonic
 * clock, which no one sets. The main thread writes it, every thread reads it.
 *
 * A block is never younger than it says, but for what a lying node makes of it, so that a chain's
 * time lags by its delay and is never ahead. The median of the chains is taken: a chain that has
 * stopped, or a node that lies or lags, cannot move it past the others. A chain that falls silent
 * goes on by the monotonic clock.
 */
export interface ChainTime {
  /** Milliseconds since the epoch; null until a block was seen. */
  nowMs(): number | null
}

export interface ChainTimeOptions {
  /** Milliseconds of a clock that never steps and is the same for all threads of the process. */
  readonly monotonicMs: () => number
}

/** Seconds of the epoch at the monotonic clock's zero; 0: not known. In 32 bits until 2106. */
const PLACES = 1
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
    nowMs() {
      const atZero = Atomics.load(places, 0)
      return atZero === 0 ? null : atZero * 1_000 + monotonicMs()
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
    const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
    Atomics.store(places, 0, Math.max(1, Math.round(median / 1_000)))
  }
}

/** Since an arbitrary moment, the same for all threads. `performance` begins anew in each. */
function processMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
