import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Key, RootDatabase } from 'lmdb'
import { Packr } from 'msgpackr'
import { openLmdb } from './lmdb-file.js'

/**
 * Writes to a store that are to be brought elsewhere, too. A store of which that was asked once has a
 * database of them, and each write goes there in its own transaction, whoever makes it: a process beside
 * the one that brings them on, or a command while that one is stopped. A crash leaves both, or neither.
 */

/** Databases of each such store; names are never reused. */
const WRITES = '99-recorded-writes'

const POLL_MS = 20

/** A key and what is put there; null: it is removed. */
export interface RecordedWrite {
  readonly database: string
  /** Bytes as they are, or what they stand for in lmdb-js's own order of keys. */
  readonly key: Key
  /** As it is in LMDB. */
  readonly value: Buffer | null
}

/** Writes in their order, until they are forgotten. */
export interface RecordedWrites {
  /**
   * Numbers that this process has given out, on disk or on their way: whoever brings one on takes it out.
   * One whose write came to nothing leaves by itself.
   */
  readonly made: Set<number>
  /** Those that are on disk. */
  all(): Iterable<NumberedWrite>
  /** Of all that are on disk. */
  numbers(): Iterable<number>
  get(number: number): NumberedWrite | undefined
  /** Takes part in the caller's transaction. */
  forget(number: number): void
}

export interface NumberedWrite {
  readonly number: number
  /** For `unpackWrite`: what is written. */
  readonly packed: Buffer
  /** For `unpackWrite`: what takes it back, where nothing was written to that key since. */
  readonly undo: Buffer
}

type Options = Parameters<typeof openLmdb>[0]

/** What this process has written to a store, by whichever opening of it. */
interface Numbering {
  /** The highest that was given out. */
  last: number
  /** Given out, and not known to have come to nothing; whoever brings them on takes them out. */
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

/** As lmdb-js has it, and its types leave it out. */
interface Encodings {
  readonly encoding?: string
  readonly keyEncoding?: string
  readonly encoder?: { encode(value: unknown): Uint8Array }
}

const packer = new Packr({ useRecords: false })

/**
 * @property unrecorded names of databases that are this home's own: nothing of them is recorded
 */
export type RecordedOptions = Options & { readonly unrecorded?: readonly string[] }

/**
 * As `openLmdb`; where its writes are recorded, those that are made by what is returned are. With a
 * database of its own nothing else may write there.
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
 * Resolves once all that was recorded was brought elsewhere, or taken back; of a store whose writes are
 * brought nowhere now, after the time.
 */
export async function broughtElsewhere(root: RootDatabase, timeMs: number): Promise<void> {
  if (!isRecorded(root)) return
  const { numbers } = recordedWritesOf(root, '')
  const endMs = performance.now() + timeMs
  while (performance.now() < endMs && [...numbers()].length > 0) await delay(POLL_MS)
}

/**
 * @param root as `openLmdb` gives it: what is written by it is not recorded
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
      // What is on disk by now, be it by another opening of the store.
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

/** From its next opening on its writes are recorded. */
export function beginRecording(root: RootDatabase): void {
  openWrites(root)
}

/** From its next opening on they are not, and what was recorded is forgotten. */
export async function endRecording(root: RootDatabase): Promise<void> {
  if (isRecorded(root)) await openWrites(root).drop()
}

/** @throws Error for what is no write */
export function unpackWrite(packed: Uint8Array): RecordedWrite {
  const [database, key, value] = packer.unpack(packed) as [string, Key, Buffer | null]
  return { database, key, value }
}

/** Takes part in the caller's transaction. @param root as `openLmdb` gives it */
export function writerInto(root: RootDatabase): (write: RecordedWrite) => void {
  const databases = new Map<string, Database<Buffer, Key>>()
  return ({ database: name, key, value }) => {
    let database = databases.get(name)
    if (database === undefined) {
      // All keys of a database are of one kind.
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
  /** It is on disk once it returns, or is no write: reading sees either at once. */
  let isSync = false
  /** Of writes that may come to nothing, of which nobody is told within this turn. */
  let isConditional = false

  /**
   * In the order in which they are made. Another process may have made some since, in a transaction of
   * its own, and this one sees them in its own; by the clock none is ever given out twice.
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

  /** What is written within `work` depends on a condition. */
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
    // A transaction that began before does not know the handle, and finds nothing by it.
    root.resetReadTxn()
    /** Of keys whose last write is not on disk yet, which reading does not see. */
    const unseen = new Map<string, { readonly value: Buffer | null }>()

    function note(key: Key, value: Buffer | null): void {
      const at = packer.pack(key).toString('latin1')
      const before = (unseen.get(at) ?? { value: raw.get(key) ?? null }).value
      const packed = packWrite(name, key, value)
      const pair = packer.pack([packed, packWrite(name, key, before)])
      const own = { value }
      // What may come to nothing is no value before another; undone in turn, the two come to the same.
      if (!isSync && !isConditional) unseen.set(at, own)
      const number = nextNumber()
      numbering.made.add(number)
      givenOut?.push(number)
      const seen = (isWritten: boolean) => {
        root.resetReadTxn()
        if (unseen.get(at) === own) unseen.delete(at)
        if (!isWritten) numbering.made.delete(number)
      }
      // What becomes of it is told by the write that it is of.
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
      /** Within a transaction, as all of ours are. */
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
  throw new Error('a store whose writes are recorded is written by put and remove alone')
}

function encoderOf(database: Database): (value: unknown) => Buffer {
  const { encoding, encoder } = database as Encodings
  if (encoding === 'binary') return (value) => Buffer.from(value as Uint8Array)
  if (encoder === undefined) throw new Error('a database whose encoding is not known')
  return (value) => Buffer.from(encoder.encode(value))
}
