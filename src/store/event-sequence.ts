import type { NewEvent } from '../domain/event.js'
import type { UserId } from '../domain/ids.js'
import { PARTITION_COUNT, partitionOf } from '../domain/partition.js'
import { type PartitionRun, type PlacedEvents, placed } from './event-rows.js'
import { type DrawEntropy, drawEntropy } from './new-id.js'

/**
 * Assigns places in the event log. They are counted in each partition of users separately, without
 * gaps, and stay hidden until they are committed. A partition has one writer, so no reader ever
 * sees a later event of a user before an earlier one.
 *
 * For each partition a shared array holds the next place, and the lowest place that is assigned but
 * not committed. A reader shows only what lies below both.
 */
export interface EventSequence {
  /**
   * Gives events their places, which stay hidden until `settle` or `giveBack`.
   * @throws Error if another thread writes a user's partition; then no place is assigned
   */
  place(events: readonly NewEvent[]): PlacedEvents
  /** Call it when the events are committed, or when that is unknown. */
  settle(placed: PlacedEvents): void
  /**
   * Call it when nothing was written, and before other events are placed, so that the log has no
   * gap.
   */
  giveBack(placed: PlacedEvents): void
  /** The last place in the user's partition that a reader may show. */
  readable(userId: UserId): number
}

/** Number of cells for each partition. */
const CELLS = 2
const NEXT = 0
const PENDING = 1
const NONE = 0n

/** @param lastSeqs the last place in the store, by partition; 0 for an empty one */
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
 * @param owns whether this thread is the only writer of a partition; always false for readers
 * @param draw draws the random part of event ids
 */
export function attachEventSequence(
  buffer: SharedArrayBuffer,
  owns: (partition: number) => boolean,
  draw: DrawEntropy = drawEntropy,
): EventSequence {
  const cells = new BigInt64Array(buffer)
  /** The first places of commits under way, by partition. */
  const pending = Array.from({ length: PARTITION_COUNT }, () => new Set<number>())

  function take(partition: number, count: number): PartitionRun {
    const at = partition * CELLS
    const next = Atomics.load(cells, at + NEXT)
    // This is stored before the place is assigned, so that no reader can pass it in between.
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
    // Events of a user often follow one another, and hashing an id is slow.
    if (last?.userId !== userId) last = { userId, partition: partitionOf(userId) }
    return last.partition
  })
}
