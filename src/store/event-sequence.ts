import type { NewEvent } from '../domain/event.js'
import type { UserId } from '../domain/ids.js'
import { PARTITION_COUNT, partitionOf } from '../domain/partition.js'
import { type PartitionRun, type PlacedEvents, placed } from './event-rows.js'
import { type DrawEntropy, drawEntropy } from './new-id.js'

/**
 * Places in the event log, counted in each partition of users on its own and without a gap, and
 * hidden until they are committed. A partition has one writer, so that no reader ever sees a later
 * event of a user before an earlier one.
 *
 * A shared array holds of each partition the next place, and the lowest place that is taken and
 * not committed. A reader shows only what lies below both.
 */
export interface EventSequence {
  /**
   * Gives events their places, which stay hidden until `settle` or `giveBack`.
   * @throws Error where another thread writes a user's partition; nothing is taken then
   */
  place(events: readonly NewEvent[]): PlacedEvents
  /** They are committed, or nobody knows. */
  settle(placed: PlacedEvents): void
  /** Nothing was put there. To be called before others are placed, so that the log has no hole. */
  giveBack(placed: PlacedEvents): void
  /** The last place of the user's partition that a reader may show. */
  readable(userId: UserId): number
}

/** Cells of a partition. */
const CELLS = 2
const NEXT = 0
const PENDING = 1
const NONE = 0n

/** @param lastSeqs by partition, the last place in the store; 0 where there is none */
export function createEventSequenceBuffer(lastSeqs: readonly number[] = []): SharedArrayBuffer {
  const bytes = PARTITION_COUNT * CELLS * BigInt64Array.BYTES_PER_ELEMENT
  const buffer = new SharedArrayBuffer(bytes)
  const cells = new BigInt64Array(buffer)
  for (let partition = 0; partition < PARTITION_COUNT; partition++) {
    cells[partition * CELLS + NEXT] = BigInt((lastSeqs[partition] ?? 0) + 1)
  }
  return buffer
}

/**
 * @param owns the partitions that this thread writes, and no other does; none for readers
 * @param draw for the ids of events
 */
export function attachEventSequence(
  buffer: SharedArrayBuffer,
  owns: (partition: number) => boolean,
  draw: DrawEntropy = drawEntropy,
): EventSequence {
  const cells = new BigInt64Array(buffer)
  /** By partition, the first places of commits under way. */
  const pending = Array.from({ length: PARTITION_COUNT }, () => new Set<number>())

  function take(partition: number, count: number): PartitionRun {
    const at = partition * CELLS
    const next = Atomics.load(cells, at + NEXT)
    // Before the place is taken, so that no reader can pass it in between.
    if (Atomics.load(cells, at + PENDING) === NONE) Atomics.store(cells, at + PENDING, next)
    Atomics.store(cells, at + NEXT, next + BigInt(count))
    const first = Number(next)
    pending[partition]?.add(first)
    return { partition, first, count }
  }

  function settleRuns(runs: readonly PartitionRun[]): void {
    for (const { partition, first } of runs) {
      const open = pending[partition]
      open?.delete(first)
      const lowest = open === undefined || open.size === 0 ? NONE : BigInt(Math.min(...open))
      Atomics.store(cells, partition * CELLS + PENDING, lowest)
    }
  }

  function giveRunsBack(runs: readonly PartitionRun[]): void {
    for (const { partition, first, count } of runs) {
      const [next, before] = [BigInt(first + count), BigInt(first)]
      Atomics.compareExchange(cells, partition * CELLS + NEXT, next, before)
    }
    settleRuns(runs)
  }

  return {
    place(events) {
      const partitions = partitionsOf(events)
      const counts = new Uint32Array(PARTITION_COUNT)
      for (const partition of partitions) counts[partition] = (counts[partition] ?? 0) + 1
      for (const [partition, count] of counts.entries()) {
        if (count > 0 && !owns(partition))
          throw new Error(`partition ${partition} has another writer`)
      }
      const runs: PartitionRun[] = []
      const nextOf: number[] = []
      for (const [partition, count] of counts.entries()) {
        const run = count > 0 ? take(partition, count) : null
        if (run !== null) runs.push(run)
        nextOf.push(run?.first ?? 0)
      }
      try {
        const stored = events.map((event, index) => {
          const partition = partitions[index] ?? 0
          const seq = nextOf[partition] ?? 0
          nextOf[partition] = seq + 1
          return placed(event, partition, seq, draw)
        })
        return { stored, runs }
      } catch (error) {
        giveRunsBack(runs)
        throw error
      }
    },
    settle: ({ runs }) => settleRuns(runs),
    giveBack: ({ runs }) => giveRunsBack(runs),
    readable(userId) {
      const at = partitionOf(userId) * CELLS
      const last = Atomics.load(cells, at + NEXT) - 1n
      const lowest = Atomics.load(cells, at + PENDING)
      return Number(lowest !== NONE && lowest <= last ? lowest - 1n : last)
    },
  }
}

function partitionsOf(events: readonly NewEvent[]): number[] {
  let last: { userId: UserId; partition: number } | null = null
  return events.map(({ userId }) => {
    // Events of a user often come in a row, and an id takes a while to hash.
    if (last?.userId !== userId) last = { userId, partition: partitionOf(userId) }
    return last.partition
  })
}
