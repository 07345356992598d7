import {
  type Appended,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type Entry,
  type Journal,
  JournalTrimmed,
  JournalUnavailable,
  type Place,
} from './journal.js'
import { judgeAppend } from './judge-append.js'

interface Partition {
  epoch: number
  seq: number
  first: number
  /** Epochs by claim, oldest first. */
  readonly claims: Map<string, number>
  readonly entries: Map<number, Entry>
}

/** An engine in this process, which lasts as long as it does: for simulations and tests. */
export interface MemoryEngine {
  /** Another client of the same journal. */
  connect(): Journal
}

/**
 * The journal in memory. Each request is handled whole when it arrives, in the order of arrival.
 * @param arrives resolves when a request is to arrive: a simulator delays, reorders or loses here;
 *   what it rejects never arrives. Absent: at once.
 */
export function createMemoryEngine(
  arrives: () => Promise<void> = () => Promise.resolve(),
): MemoryEngine {
  const partitions = new Map<number, Partition>()

  function partitionAt(number: number): Partition {
    const there = partitions.get(number)
    if (there !== undefined) return there
    const fresh = { epoch: 0, seq: 0, first: 1, claims: new Map(), entries: new Map() }
    partitions.set(number, fresh)
    return fresh
  }

  function take(number: number, claim: string) {
    const partition = partitionAt(number)
    const { claims, seq, first } = partition
    const known = claims.get(claim)
    if (known !== undefined) return { epoch: known, seq, first }
    partition.epoch++
    claims.set(claim, partition.epoch)
    if (claims.size > CLAIMS_KEPT) {
      for (const oldest of claims.keys()) {
        claims.delete(oldest)
        break
      }
    }
    return { epoch: partition.epoch, seq, first }
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

  return {
    connect() {
      let isClosed = false
      async function arrived<T>(handle: () => T): Promise<T> {
        if (isClosed) throw new JournalUnavailable('the journal was closed')
        await arrives()
        return handle()
      }
      return {
        async take(partition, _node, claim) {
          checkClaim(claim)
          return arrived(() => take(partition, claim))
        },
        async append(at, body) {
          checkBody(body)
          // What a caller does with its bytes meanwhile is its own affair.
          const copy = Uint8Array.from(body)
          return arrived(() => append(at, copy))
        },
        read: (partition, afterSeq, bytesMax) => arrived(() => read(partition, afterSeq, bytesMax)),
        trim: (partition, belowSeq) => arrived(() => trim(partition, belowSeq)),
        async close() {
          isClosed = true
        },
      }
    },
  }
}
