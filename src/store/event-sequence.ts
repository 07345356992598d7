/**
 * Places in the event log, handed out across threads without a gap and without a reader ever
 * seeing a later event before an earlier one.
 *
 * A shared array holds the next place and, per worker, the lowest place that worker has taken
 * but not yet committed. A reader shows only what lies below all of these.
 */
export interface EventSequence {
  /** 0-based index of this thread among those that append; null for readers. */
  readonly thread: number | null
  /**
   * Takes the next places, one after another; they stay hidden until `settled`.
   * @returns the first of them
   */
  take(count: number): number
  /**
   * Takes places back that nothing was put at, so that the log has no hole. Where another thread
   * has taken the next ones meanwhile there is one, which no reader minds.
   */
  giveBack(first: number, count: number): void
  /** Says that every place below `upTo` that this worker took is committed (or given up). */
  settled(lowestPending: number | null): void
  /** The last place a reader may show. */
  readable(): number
}

const NEXT = 0
const NONE = 0n

/** @param workers number of threads that append; @param lastSeq last place in the store */
export function createEventSequenceBuffer(workers: number, lastSeq: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer((1 + workers) * BigInt64Array.BYTES_PER_ELEMENT)
  new BigInt64Array(buffer)[NEXT] = BigInt(lastSeq + 1)
  return buffer
}

/** @param worker 0-based index of this thread among those that append; null for readers */
export function attachEventSequence(
  buffer: SharedArrayBuffer,
  worker: number | null,
): EventSequence {
  const cells = new BigInt64Array(buffer)
  const slot = worker === null ? null : 1 + worker
  return {
    thread: worker,
    take(count) {
      if (slot === null) throw new Error('a reader appends no events')
      // The slot is set before the place is taken, so no reader can pass it in between.
      if (Atomics.load(cells, slot) === NONE) Atomics.store(cells, slot, Atomics.load(cells, NEXT))
      return Number(Atomics.add(cells, NEXT, BigInt(count)))
    },
    giveBack(first, count) {
      Atomics.compareExchange(cells, NEXT, BigInt(first + count), BigInt(first))
    },
    settled(lowestPending) {
      if (slot === null) return
      Atomics.store(cells, slot, lowestPending === null ? NONE : BigInt(lowestPending))
    },
    readable() {
      let last = Atomics.load(cells, NEXT) - 1n
      for (let i = 1; i < cells.length; i++) {
        const pending = Atomics.load(cells, i)
        if (pending !== NONE && pending <= last) last = pending - 1n
      }
      return Number(last)
    },
  }
}
