import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Key, RootDatabase } from 'lmdb'
import { Packr } from 'msgpackr'
import { openLmdb } from './lmdb-file.js'

/**
 * Records writes to a store that must also reach other nodes. Once enabled for a store, a database
 * of records exists in it, and each write adds a record in its own transaction, whichever process
 * writes: one beside the process that forwards records, or a command while that process is stopped.
 * A crash leaves both the write and its record, or neither.
 */

/** The database of records in each such store; the name is never reused. */
const WRITES = '99-recorded-writes'

const POLL_MS = 20

/** A key and its new value; null removes it. */
export interface RecordedWrite {
  readonly database: string
  /** Bytes as they are, or the value that they stand for in lmdb-js's own key order. */
  readonly key: Key
  /** The value as LMDB has it. */
  readonly value: Buffer | null
}

/** Recorded writes in order, until they are forgotten. */
export interface RecordedWrites {
  /**
   * Numbers that this process has assigned, whether on disk or not yet. The forwarder removes a
   * number when it forwards the write; the number of a write that had no effect is removed
   * automatically.
   */
  readonly made: Set<number>
  /** The records that are on disk. */
  all(): Iterable<NumberedWrite>
  /** The numbers of all records on disk. */
  numbers(): Iterable<number>
  get(number: number): NumberedWrite | undefined
  /** Takes part in the caller's transaction. */
  forget(number: number): void
}

interface NumberedWrite {
  readonly number: number
  /** For `unpackWrite`: the write. */
  readonly packed: Buffer
  /** For `unpackWrite`: the write that undoes it, if nothing was written to that key since. */
  readonly undo: Buffer
}

type Options = Parameters<typeof openLmdb>[0]

/** The writes of this process to a store, over all of its openings. */
interface Numbering {
  /** The highest number that was assigned. */
  last: number
  /** Assigned numbers of writes that had an effect, as far as known; the forwarder removes them. */
  readonly made: Set<number>
}

const numberings = new Map<string, Numbering>()

function numberingOf(path: string): Numbering {
  const known = numberings.get(path)
  if (known !== undefined) return known
  const made: Numbering = { last: 0, made: new Set() }
  numberings.set(path, made)
  return made
}

/** Fields of lmdb-js that its types omit. */
interface Encodings {
  readonly encoding?: string
  readonly keyEncoding?: string
  readonly encoder?: { encode(value: unknown): Uint8Array }
}

const packer = new Packr({ useRecords: false })

/**
 * @property unrecorded names of databases that belong to this home only; their writes are not
 * recorded
 */
type RecordedOptions = Options & { readonly unrecorded?: readonly string[] }

/**
 * Opens a store as `openLmdb` does. If its writes are recorded, those through the returned object
 * are. Once recording is enabled, nothing else may write to the store.
 */
export function openRecorded({ unrecorded, ...options }: RecordedOptions): RootDatabase {
  const root = openLmdb(options)
  if (options.readOnly !== true && isRecorded(root)) {
    record(root, numberingOf(resolve(options.path)), unrecorded ?? [])
  }
  return root
}

export function isRecorded(root: RootDatabase): boolean {
  const [name] = root.getKeys({ start: WRITES, limit: 1 })
  return name === WRITES
}

/**
 * Resolves once every record was forwarded or undone, or when the time is up, as for a store whose
 * writes nothing forwards now.
 */
export async function broughtElsewhere(root: RootDatabase, timeMs: number): Promise<void> {
  if (!isRecorded(root)) return
  const { numbers } = recordedWritesOf(root, '')
  const endMs = performance.now() + timeMs
  while (performance.now() < endMs && [...numbers()].length > 0) await delay(POLL_MS)
}

/**
 * @param root from `openLmdb`; writes through it are not recorded
 * @param path that it was opened with
 */
export function recordedWritesOf(root: RootDatabase, path: string): RecordedWrites {
  const writes = openWrites(root)
  return {
    made: numberingOf(resolve(path)).made,
    *all() {
      root.resetReadTxn()
      for (const { key, value } of writes.getRange()) yield numbered(key, value)
    },
    numbers() {
      root.resetReadTxn()
      return writes.getKeys()
    },
    get(number) {
      // Resets the snapshot, so that records from another opening of the store are visible.
      root.resetReadTxn()
      const value = writes.get(number)
      return value === undefined ? undefined : numbered(number, value)
    },
    forget: (number) => void writes.remove(number),
  }
}

function numbered(number: number, value: Buffer): NumberedWrite {
  const [packed, undo] = packer.unpack(value) as [Buffer, Buffer]
  return { number, packed, undo }
}

/** Records writes from the store's next opening on. */
export function beginRecording(root: RootDatabase): void {
  openWrites(root)
}

/** Stops recording from the store's next opening on, and drops the records. */
export async function endRecording(root: RootDatabase): Promise<void> {
  if (isRecorded(root)) await openWrites(root).drop()
}

/** @throws Error for bytes that are not a write */
export function unpackWrite(packed: Uint8Array): RecordedWrite {
  const [database, key, value] = packer.unpack(packed) as [string, Key, Buffer | null]
  return { database, key, value }
}

/** Takes part in the caller's transaction. @param root from `openLmdb` */
export function writerInto(root: RootDatabase): (write: RecordedWrite) => void {
  const databases = new Map<string, Database<Buffer, Key>>()
  return ({ database: name, key, value }) => {
    let database = databases.get(name)
    if (database === undefined) {
      // All keys of a database have the same kind.
      const keys = Buffer.isBuffer(key) ? { keyEncoding: 'binary' as const } : {}
      database = root.openDB({ name, ...keys, encoding: 'binary' })
      databases.set(name, database)
    }
    if (value === null) void database.remove(key)
    else void database.put(key, value)
  }
}

function openWrites(root: RootDatabase): Database<Buffer, number> {
  return root.openDB({ name: WRITES, encoding: 'binary' })
}

function record(root: RootDatabase, numbering: Numbering, unrecorded: readonly string[]): void {
  const writes = openWrites(root)
  /** Whether a write is on disk when the call returns, or has no effect; reads see it at once. */
  let isSync = false
  /** Whether a write may have no effect, which becomes known only after this turn. */
  let isConditional = false

  /**
   * Numbers grow in the order of the writes. Another process may have assigned some since, in its
   * own transactions, which this one sees in its own; the clock ensures that no number is assigned
   * twice.
   */
  function nextNumber(): number {
    let { last } = numbering
    for (const newest of writes.getKeys({ reverse: true, limit: 1 })) last = Math.max(last, newest)
    numbering.last = Math.max(last + 1, Date.now() * 1_000)
    return numbering.last
  }

  const transactionSync = root.transactionSync.bind(root)
  function syncTransaction<T>(work: () => T): T {
    const before = isSync
    const given: number[] = []
    const outer = givenOut
    givenOut = given
    isSync = true
    try {
      const done = transactionSync(work)
      outer?.push(...given)
      return done
    } catch (error) {
      for (const number of given) numbering.made.delete(number)
      throw error
    } finally {
      givenOut = outer
      isSync = before
    }
  }
  let givenOut: number[] | null = null

  /** The writes in `work` depend on a condition. */
  function conditional<T>(work: () => T): T {
    isConditional = true
    try {
      return work()
    } finally {
      isConditional = false
    }
  }

  const openDB = root.openDB.bind(root) as (options: object) => Database
  const openRaw = openDB as (options: object) => Database<Buffer, Key>
  function recorded(options: { name: string }): Database {
    const database = openDB(options)
    const { name } = options
    if (unrecorded.includes(name)) return database
    const { keyEncoding } = database as Encodings
    const keys = keyEncoding === undefined ? {} : { keyEncoding }
    const raw = openRaw({ name, ...keys, encoding: 'binary' })
    // An earlier transaction does not know the database handle and would find nothing through it.
    root.resetReadTxn()
    /** Values of keys whose last write is not on disk yet, so that reads do not see it. */
    const unseen = new Map<string, { readonly value: Buffer | null }>()

    function note(key: Key, value: Buffer | null): void {
      const at = packer.pack(key).toString('latin1')
      const before = (unseen.get(at) ?? { value: raw.get(key) ?? null }).value
      const packed = packWrite(name, key, value)
      const pair = packer.pack([packed, packWrite(name, key, before)])
      const own = { value }
      // A write that may have no effect must not count as the value before another; undone in turn,
      // the two give the same result.
      if (!isSync && !isConditional) unseen.set(at, own)
      const number = nextNumber()
      numbering.made.add(number)
      givenOut?.push(number)
      const seen = (isWritten: boolean) => {
        root.resetReadTxn()
        if (unseen.get(at) === own) unseen.delete(at)
        if (!isWritten) numbering.made.delete(number)
      }
      // The result of the recorded write tells whether it had an effect.
      void Promise.resolve(writes.put(number, Buffer.from(pair))).then(
        (isWritten) => seen(isWritten !== false),
        () => seen(false),
      )
    }

    const rawValue = encoderOf(database)
    const put = database.put.bind(database)
    const remove = database.remove.bind(database)
    const clearSync = database.clearSync.bind(database)
    const ifVersion = database.ifVersion.bind(database)
    const ifNoExists = database.ifNoExists.bind(database)
    Object.assign(database, {
      put(key: Key, value: unknown, ...rest: []) {
        note(key, rawValue(value))
        return put(key, value, ...rest)
      },
      remove(key: Key, ...rest: []) {
        note(key, null)
        return remove(key, ...rest)
      },
      /** Must run in a transaction, as all of ours do. */
      clearSync() {
        for (const key of database.getKeys()) note(key, null)
        clearSync()
      },
      ifVersion: (key: Key, version: number, work: () => unknown) =>
        ifVersion(key, version, () => conditional(work)),
      ifNoExists: (key: Key, work: () => unknown) => ifNoExists(key, () => conditional(work)),
      putSync: refused,
      removeSync: refused,
      clearAsync: refused,
    })
    return database
  }
  Object.assign(root, { openDB: recorded, transactionSync: syncTransaction })
}

function packWrite(database: string, key: Key, value: Buffer | null): Buffer {
  return Buffer.from(packer.pack([database, key, value]))
}

function refused(): never {
  throw new Error('a store whose writes are recorded can be written only by put and remove')
}

function encoderOf(database: Database): (value: unknown) => Buffer {
  const { encoding, encoder } = database as Encodings
  if (encoding === 'binary') return (value) => Buffer.from(value as Uint8Array)
  if (encoder === undefined) throw new Error('the encoding of the database is unknown')
  return (value) => Buffer.from(encoder.encode(value))
}
