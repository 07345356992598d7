import {
  type Appended,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type Entry,
  type Heartbeat,
  type HeartbeatState,
  type Journal,
  type JournalHead,
  JournalOvertaken,
  JournalTrimmed,
  JournalUnavailable,
  type Place,
} from './journal.js'
import { judgeAppend } from './judge-append.js'
import { checkChunk, checkNewSnapshot } from './judge-snapshot.js'
import { type MemorySnapshots, memorySnapshots } from './memory-snapshots.js'

interface Partition {
  epoch: number
  seq: number
  first: number
  owner: JournalHead['owner']
  beat: Heartbeat | null
  /** Epochs by claim, oldest first. */
  readonly claims: Map<string, number>
  readonly entries: Map<number, Entry>
  readonly snapshots: MemorySnapshots
}

/** An engine in this process that lasts as long as the process, for simulations and tests. */
export interface MemoryEngine {
  /** Returns another client of the same journal. */
  connect(): Journal
}

/**
 * The journal in memory. Each request is handled as a whole when it arrives, in order of arrival.
 * @param arrives resolves when a request arrives. A simulator delays, reorders or loses requests
 * here; a request whose promise rejects never arrives. Defaults to immediate arrival.
 */
export function createMemoryEngine(
  arrives: () => Promise<void> = () => Promise.resolve(),
): MemoryEngine {
  const partitions = new Map<number, Partition>()

  function partitionAt(number: number): Partition {
    const there = partitions.get(number)
    if (there !== undefined) return there
    const fresh: Partition = {
      ...{ epoch: 0, seq: 0, first: 1, owner: null, beat: null },
      ...{ claims: new Map(), entries: new Map() },
      snapshots: { chunks: new Map(), newest: null },
    }
    partitions.set(number, fresh)
    return fresh
  }

  function acquire(number: number, node: string, claim: string, after?: number) {
    const partition = partitionAt(number)
    const { claims, seq, first } = partition
    const known = claims.get(claim)
    if (known !== undefined) return { epoch: known, seq, first }
    if (after !== undefined && after !== partition.epoch) {
      throw new JournalOvertaken(number, after, partition.epoch)
    }
    partition.epoch++
    partition.owner = { node, claim }
    claims.set(claim, partition.epoch)
    if (claims.size > CLAIMS_KEPT) {
      for (const oldest of claims.keys()) {
        claims.delete(oldest)
        break
      }
    }
    return { epoch: partition.epoch, seq, first }
  }

  function readHead(number: number): JournalHead {
    const { epoch, seq, first, owner, beat } = partitionAt(number)
    return { epoch, seq, first, owner, beat }
  }

  function heartbeat(number: number, epoch: number, stored: number, state: HeartbeatState): void {
    const partition = partitionAt(number)
    const last = partition.beat
    if (epoch < (last?.epoch ?? 0)) return
    partition.beat = { epoch, stored, state, count: (last?.count ?? 0) + 1 }
  }

  function append(at: Place, body: Uint8Array): Appended {
    const partition = partitionAt(at.partition)
    const { epoch, seq } = at
    if (epoch === partition.epoch && seq === partition.seq + 1) {
      partition.entries.set(seq, { seq, epoch, body: Uint8Array.from(body) })
      partition.seq = seq
      return { kind: 'stored' }
    }
    const there = partition.entries.get(seq)
    const sameBody = there !== undefined && Buffer.compare(there.body, body) === 0
    return judgeAppend(at, partition, there === undefined ? null : { epoch: there.epoch, sameBody })
  }

  function read(number: number, afterSeq: number, bytesMax: number): readonly Entry[] {
    const { entries, first } = partitionAt(number)
    if (afterSeq + 1 < first) throw new JournalTrimmed(number, afterSeq, first)
    const read: Entry[] = []
    let bytes = 0
    for (let seq = afterSeq + 1; ; seq++) {
      const entry = entries.get(seq)
      if (entry === undefined) return read
      bytes += entry.body.length
      if (read.length > 0 && bytes > bytesMax) return read
      read.push({ ...entry, body: Uint8Array.from(entry.body) })
    }
  }

  function trim(number: number, belowSeq: number): void {
    const partition = partitionAt(number)
    const first = Math.min(belowSeq, partition.seq + 1)
    for (; partition.first < first; partition.first++) partition.entries.delete(partition.first)
  }

  const kept = memorySnapshots(partitionAt)

  return {
    connect() {
      let isClosed = false
      async function arrived<T>(handle: () => T): Promise<T> {
        if (isClosed) throw new JournalUnavailable('the journal was closed')
        await arrives()
        return handle()
      }
      return {
        async acquire(partition, node, claim, after) {
          checkClaim(claim)
          return arrived(() => acquire(partition, node, claim, after))
        },
        heartbeat: (partition, epoch, stored, state) =>
          arrived(() => heartbeat(partition, epoch, stored, state)),
        readHead: (partition) => arrived(() => readHead(partition)),
        async append(at, body) {
          checkBody(body)
          // A copy, because the caller may change its bytes.
          const copy = Uint8Array.from(body)
          return arrived(() => append(at, copy))
        },
        read: (partition, afterSeq, bytesMax) => arrived(() => read(partition, afterSeq, bytesMax)),
        trim: (partition, belowSeq) => arrived(() => trim(partition, belowSeq)),
        snapshots: {
          readHead: (partition) => arrived(() => kept.readHead(partition)),
          async put(at, body) {
            checkChunk(at, body)
            const copy = Uint8Array.from(body)
            return arrived(() => kept.put(at, copy))
          },
          async publish(snapshot) {
            checkNewSnapshot(snapshot)
            return arrived(() => kept.publish(snapshot))
          },
          read: (partition, id, index) => arrived(() => kept.read(partition, id, index)),
          sweep: (partition, epoch) => arrived(() => kept.sweep(partition, epoch)),
        },
        async close() {
          isClosed = true
        },
      }
    },
  }
}
