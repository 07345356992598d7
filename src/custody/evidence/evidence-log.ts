import { mkdirSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { type Database, IF_EXISTS, type RangeOptions, type RootDatabase } from 'lmdb'
import { openLmdb } from '../../disk/lmdb-file.js'
import { openRecorded } from '../../disk/recorded-writes.js'
import { concat, u64 } from '../../quorum-protocol/bytes.js'
import {
  chainHash,
  EVIDENCE_HASH_BYTES,
  type EvidenceKind,
  type StoredEvidence,
} from './stored-evidence.js'

/**
 * An append-only log in which each entry's hash covers the entry before: what was written cannot
 * be changed or taken out without breaking every hash after it. The service and the user side
 * each keep one and neither can write the other's. Each writing thread has a chain of its own in
 * its domain's log.
 *
 * The first write that fails ends the log: an entry after one that is not on disk would leave a
 * hole that nobody can tell from one that was torn. Its owner is told, and starts again from what
 * is on disk.
 */
export interface EvidenceLog extends EvidenceReader {
  /**
   * Chains at once, in the order of the calls; resolves when it and all before it are on disk.
   * @throws EvidenceBroken when it is not, and ever after
   */
  append(entry: EvidenceEntry): Promise<void>
  /** Entries of the writing thread's chain, those on their way to disk included. */
  readonly length: number
}

export interface EvidenceReader {
  /** All chains, one after the other, oldest first. */
  entries(): Iterable<StoredEvidence>
  /**
   * @param chain alone; absent: all, one after the other
   * @param below of that chain what is before this index; absent: all of it
   */
  newestFirst(chain?: number, below?: number): Iterable<StoredEvidence>
  /** Null where the chain has no such entry. */
  at(chain: number, index: number): StoredEvidence | null
  /** Numbers of all chains, found without a look at what is in them. */
  chains(): Iterable<number>
  close(): Promise<void>
}

export interface EvidenceEntry {
  readonly timeMs: number
  readonly kind: EvidenceKind
  /** The same bytes in both logs for the same event. */
  readonly body: Uint8Array
}

/** Nothing more is written to this log by this thread. */
export class EvidenceBroken extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path}: an entry of the evidence could not be written`, { cause })
    this.name = 'EvidenceBroken'
  }
}

type Entries = Database<Buffer, [chain: number, index: number]>

/**
 * @param path LMDB directory; one database: 02-evidence, [chain, index] → stored bytes
 * @param chain number of the writing thread; no two threads may write one chain
 * @param onBroken called once, with the first failure: the process has to begin anew
 */
export function openEvidenceLog(
  path: string,
  chain: number,
  onBroken: (error: EvidenceBroken) => void,
): EvidenceLog {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Entries of one turn of the event loop need not share a transaction. With its batches of them
  // lmdb would also keep a promise of its own, whose rejection nobody could handle.
  const root = openRecorded({ path, overlappingSync: false, eventTurnBatching: false, maxDbs: 4 })
  return evidenceLogIn(root, path, chain, onBroken)
}

/**
 * @param root has nothing in it, or such a log
 * @param path where it is, for errors
 */
export function evidenceLogIn(
  root: RootDatabase,
  path: string,
  chain: number,
  onBroken: (error: EvidenceBroken) => void,
): EvidenceLog {
  const log = entriesOf(root)
  let head: Uint8Array = Buffer.alloc(EVIDENCE_HASH_BYTES)
  let length = 0
  const newest = log.getRange({ ...newestOf(chain), limit: 1 })
  for (const { key, value } of newest) {
    head = Buffer.from(value.subarray(0, EVIDENCE_HASH_BYTES))
    length = key[1] + 1
  }
  let broken: EvidenceBroken | null = null

  /**
   * Commits that wait behind one that fails can still succeed: an entry is put only where the one
   * before it is, which the same transaction sees.
   */
  async function put(index: number, bytes: Buffer): Promise<void> {
    const write = () => log.put([chain, index], bytes)
    // The condition's outcome is that of what is put under it, whose own promise nobody awaits.
    const writeQuietly = () => void write().catch(() => {})
    const written =
      index === 0 ? write() : log.ifVersion([chain, index - 1], IF_EXISTS, writeQuietly)
    if (!(await written)) throw new Error('the entry before it is not on disk')
  }

  async function fail(error: unknown): Promise<EvidenceBroken> {
    const cause = await reasonOf(error)
    if (broken === null) {
      broken = new EvidenceBroken(path, cause)
      onBroken(broken)
    }
    return broken
  }

  return {
    ...readerOf(root, log),
    get length() {
      return length
    },
    async append(entry) {
      if (broken !== null) throw broken
      const content = concat(u64(entry.timeMs), Buffer.of(entry.kind), entry.body)
      const index = length++
      head = chainHash(head, chain, index, content)
      try {
        await put(index, concat(head, content))
      } catch (error) {
        throw await fail(error)
      }
    },
  }
}

/** lmdb tells why a commit failed in a promise of its own, which it rejects in the same tick. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error
  try {
    await Promise.race([error.commitError, nextTick()])
    return error
  } catch (reason) {
    return reason
  }
}

/**
 * Reads a log without being able to write it, also while its owner is at work.
 * @throws Error when there is none
 */
export function openEvidenceReader(path: string): EvidenceReader {
  const root = openLmdb({ path, readOnly: true, maxDbs: 4 })
  return readerOf(root, entriesOf(root))
}

function entriesOf(root: RootDatabase): Entries {
  return root.openDB({ name: '02-evidence', encoding: 'binary' })
}

/** Entries of one chain, the newest first. */
function newestOf(chain: number, below: number = Number.MAX_SAFE_INTEGER): RangeOptions {
  return { start: [chain, below - 1], end: [chain, -1], reverse: true }
}

function readerOf(root: RootDatabase, log: Entries): EvidenceReader {
  function* chains(): Iterable<number> {
    let above = Number.MAX_SAFE_INTEGER
    for (;;) {
      const [newest] = log.getKeys({ start: [above, -1], reverse: true, limit: 1 })
      if (newest === undefined) return
      above = newest[0]
      yield above
    }
  }

  function* range(options: RangeOptions): Iterable<StoredEvidence> {
    for (const { key, value } of log.getRange(options)) {
      yield { chain: key[0], index: key[1], bytes: value }
    }
  }
  return {
    entries: () => range({ reverse: false }),
    newestFirst: (chain, below) =>
      range(chain === undefined ? { reverse: true } : newestOf(chain, below)),
    at(chain, index) {
      const bytes = log.get([chain, index])
      return bytes === undefined ? null : { chain, index, bytes }
    },
    chains,
    async close() {
      await root.close()
    },
  }
}
