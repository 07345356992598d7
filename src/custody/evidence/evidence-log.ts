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
 * An append-only log in which each entry's hash covers the previous entry: nothing written can be
 * changed or removed without breaking every later hash. The service and the identity provider each
 * keep one, and neither can write the other's. Each writing thread has its own chain in its
 * domain's log.
 *
 * The first failed write ends the log: an entry after a missing one would leave a gap that looks
 * like tampering. The process is told, and restarts from what is on disk.
 */
export interface EvidenceLog extends EvidenceReader {
  /**
   * Adds an entry to the chain at once, in the order of the calls. Resolves when it and all earlier
   * ones are on disk.
   * @throws EvidenceBroken when the write fails, and from then on
   */
  append(entry: EvidenceEntry): Promise<void>
  /** The number of entries in the writing thread's chain, including those not on disk yet. */
  readonly length: number
}

export interface EvidenceReader {
  /** Returns all chains, one after the other, each oldest first. */
  entries(): Iterable<StoredEvidence>
  /**
   * @param chain only this chain; absent for all, one after the other
   * @param below only entries of that chain before this index; absent for all
   */
  newestFirst(chain?: number, below?: number): Iterable<StoredEvidence>
  /** Null when the chain has no such entry. */
  at(chain: number, index: number): StoredEvidence | null
  /** Returns the numbers of all chains without reading their entries. */
  chains(): Iterable<number>
  close(): Promise<void>
}

export interface EvidenceEntry {
  readonly timeMs: number
  readonly kind: EvidenceKind
  /** Both logs have the same bytes for the same event. */
  readonly body: Uint8Array
}

/** This thread can no longer write to the log. */
export class EvidenceBroken extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path}: an entry of the evidence could not be written`, { cause })
    this.name = 'EvidenceBroken'
  }
}

type Entries = Database<Buffer, [chain: number, index: number]>

/**
 * @param path LMDB directory; one database: 02-evidence, [chain, index] → stored bytes
 * @param chain number of the writing thread; no two threads may write the same chain
 * @param onBroken called once, with the first failure: the process has to restart
 */
export function openEvidenceLog(
  path: string,
  chain: number,
  onBroken: (error: EvidenceBroken) => void,
): EvidenceLog {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Entries of one turn of the event loop need not share a transaction. When batching them, lmdb
  // would also keep a promise of its own, whose rejection nobody could handle.
  const root = openRecorded({ path, overlappingSync: false, eventTurnBatching: false, maxDbs: 4 })
  return evidenceLogIn(root, path, chain, onBroken)
}

/**
 * @param root an empty environment, or one with such a log
 * @param path the environment's path, for errors
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
   * Commits that wait behind a failed one can still succeed, so an entry is written only if the
   * same transaction sees the previous one.
   */
  async function put(index: number, bytes: Buffer): Promise<void> {
    const write = () => log.put([chain, index], bytes)
    // The condition's promise has the outcome; nobody awaits the one of the write below it.
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

/**
 * lmdb gives the reason of a failed commit in a separate promise, which it rejects in the same
 * tick.
 */
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
 * Opens a log for reading only, even while its process writes to it.
 * @throws Error when there is no log
 */
export function openEvidenceReader(path: string): EvidenceReader {
  const root = openLmdb({ path, readOnly: true, maxDbs: 4 })
  return readerOf(root, entriesOf(root))
}

function entriesOf(root: RootDatabase): Entries {
  return root.openDB({ name: '02-evidence', encoding: 'binary' })
}

/** The entries of one chain, newest first. */
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
