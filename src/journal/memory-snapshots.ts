import {
  type Acquisition,
  type Appended,
  type ChunkPlace,
  type Entry,
  type NewSnapshot,
  type Snapshot,
  SnapshotGone,
  type SnapshotsHead,
  SWEPT_MAX,
  TAIL_COUNTED_MAX,
} from './journal.js'
import { judgePublish, judgePut } from './judge-snapshot.js'

interface Chunk {
  readonly id: string
  readonly epoch: number
  readonly index: number
  readonly body: Uint8Array
}

/** The snapshots of a partition in memory. */
export interface MemorySnapshots {
  readonly chunks: Map<string, Chunk>
  newest: Snapshot | null
}

/** The entries of the partition. */
interface Partition extends Acquisition {
  readonly entries: ReadonlyMap<number, Entry>
  readonly snapshots: MemorySnapshots
}

const keyOf = (id: string, index: number) => `${index} ${id}`

/** Handles each request as a whole. @param partitionAt returns the current state of a partition */
export function memorySnapshots(partitionAt: (number: number) => Partition) {
  function readHead(number: number): SnapshotsHead {
    const { entries, first, snapshots } = partitionAt(number)
    const { newest, chunks } = snapshots
    const after = newest?.seq ?? first - 1
    let [tailBytes, engineBytes] = [0, 0]
    for (const { seq, body } of entries.values()) {
      if (seq > after && seq <= after + TAIL_COUNTED_MAX) tailBytes += body.length
      engineBytes += body.length
    }
    for (const { body } of chunks.values()) engineBytes += body.length
    return { newest, tailBytes, engineBytes }
  }

  function put({ partition, epoch, id, index }: ChunkPlace, body: Uint8Array): Appended {
    const { epoch: owned, snapshots } = partitionAt(partition)
    const there = snapshots.chunks.get(keyOf(id, index))
    if (epoch === owned && there === undefined) {
      snapshots.chunks.set(keyOf(id, index), { id, epoch, index, body })
      return { kind: 'stored' }
    }
    const sameBody = there !== undefined && Buffer.compare(there.body, body) === 0
    const present = there === undefined ? null : { epoch: there.epoch, sameBody }
    return judgePut({ partition, epoch, id, index }, owned, present)
  }

  function publish(snapshot: NewSnapshot): Appended {
    const partition = partitionAt(snapshot.partition)
    const { snapshots } = partition
    const own = [...snapshots.chunks.values()].filter(
      ({ id, index }) => id === snapshot.id && index < snapshot.chunks,
    )
    const context = { head: partition, newest: snapshots.newest, chunks: own.length }
    const judged = judgePublish(snapshot, context)
    if (judged !== null) return judged
    const { epoch, id, seq, chunks, atMs } = snapshot
    const bytes = own.reduce((sum, { body }) => sum + body.length, 0)
    snapshots.newest = { epoch, id, seq, chunks, atMs, bytes }
    return { kind: 'stored' }
  }

  function read(number: number, id: string, index: number): Uint8Array {
    const { newest, chunks } = partitionAt(number).snapshots
    const there = newest?.id === id ? chunks.get(keyOf(id, index)) : undefined
    if (there === undefined) throw new SnapshotGone(id, index)
    return Uint8Array.from(there.body)
  }

  function sweep(number: number, epoch: number): number {
    const { newest, chunks } = partitionAt(number).snapshots
    let swept = 0
    for (const [key, chunk] of chunks) {
      if (swept === SWEPT_MAX) break
      const isOver = chunk.epoch < epoch || (chunk.epoch === epoch && newest !== null)
      if (chunk.id === newest?.id || !isOver) continue
      chunks.delete(key)
      swept++
    }
    return swept
  }

  return { readHead, put, publish, read, sweep }
}
