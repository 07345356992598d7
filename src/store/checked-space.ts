import type { RangeOptions, RootDatabase, Transaction } from 'lmdb'
import { FaultError, fault } from '../errors/fault.js'
import {
  DAMAGED,
  isSealed,
  isSound,
  opened,
  placeOf,
  seal,
  type Unsealed,
} from './encodings/sealing.js'
import { KEY_SPACES, type KeySpace } from './key-spaces.js'

/** Keys of lmdb: strings, numbers and tuples of them, in their natural order. */
export type StoreKey = string | number | (string | number)[]

export interface StoreRange {
  readonly start?: StoreKey
  readonly end?: StoreKey
  readonly exclusiveStart?: boolean
  readonly reverse?: boolean
  readonly limit?: number
}

interface Entry {
  readonly key: StoreKey
  readonly value: unknown
}

/** One key space. Records are sealed when they are written and checked when they are read. */
export interface Space {
  /** @throws DamagedRecord */
  get(key: StoreKey): unknown
  /** @throws DamagedRecord at the first damaged record */
  getRange(range: StoreRange): Iterable<Entry>
  /**
   * Yields entries and skips damaged ones, which it reports to `noteDamage`. For callers that go
   * through many records and must not be stopped by one.
   */
  getSound(range: StoreRange): Iterable<Entry>
  /**
   * Yields all records as stored, of one moment and in key order, for a copy. The bytes of a record
   * are valid until the next one is read.
   * @throws DamagedRecord at the first damaged record
   */
  getStored(moment: Transaction): Iterable<StoredRecord>
  getKeys(range: StoreRange): Iterable<StoreKey>
  getKeysCount(range: StoreRange): number
  /** False for a small number written by a build that did not seal records. */
  isSealed(key: StoreKey): boolean
  /** The error to throw when a record is missing although it was written. */
  lost(key: StoreKey): DamagedRecord
  put(key: StoreKey, record: Unsealed): Promise<boolean>
  putSync(key: StoreKey, record: Unsealed): void
  remove(key: StoreKey): Promise<boolean>
  removeSync(key: StoreKey): void
  /** Removes all records. */
  clearSync(): void
}

/** A record without its seal, which may be written again as it is. */
interface StoredRecord {
  readonly key: StoreKey
  readonly record: Unsealed
}

/**
 * A record that is not what was written, or is in the wrong place. The error does not show its
 * value.
 */
export class DamagedRecord extends FaultError {
  override readonly name = 'DamagedRecord'

  constructor(file: string, space: KeySpace, key: StoreKey) {
    const internal = `${file}: the record ${JSON.stringify(key)} of ${space} is damaged`
    super(fault('RECORD_DAMAGED', { space }, undefined, internal))
  }
}

interface SpaceOptions {
  /** Used in messages. */
  readonly file: string
  readonly space: KeySpace
  readonly noteDamage: (damage: DamagedRecord) => void
}

export function openSpace(root: RootDatabase, { file, space, noteDamage }: SpaceOptions): Space {
  const name = KEY_SPACES[space]
  const database = root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' })
  const number = Number.parseInt(name, 10)

  function checked(bytes: Uint8Array, key: StoreKey): unknown {
    return opened(bytes, bytes.length, placeOf(number, key))
  }

  function* entries(range: StoreRange, damaged: (damage: DamagedRecord) => void): Generator<Entry> {
    for (const { key, value: bytes } of database.getRange(range as RangeOptions)) {
      const value = checked(bytes, key)
      if (value === DAMAGED) damaged(new DamagedRecord(file, space, key))
      else yield { key, value }
    }
  }

  const sealed = (key: StoreKey, record: Unsealed) => seal(record, placeOf(number, key))
  return {
    get(key) {
      // These bytes are reused by the next read, and may be longer than the record.
      const bytes = database.getBinaryFast(key)
      if (bytes === undefined) return undefined
      const value = checked(bytes, key)
      if (value === DAMAGED) throw new DamagedRecord(file, space, key)
      return value
    },
    getRange(range) {
      return entries(range, (damage) => {
        throw damage
      })
    },
    getSound: (range) => entries(range, noteDamage),
    *getStored(moment) {
      for (const { key, value: bytes } of database.getRange({ transaction: moment })) {
        if (!isSound(bytes, bytes.length, placeOf(number, key))) {
          throw new DamagedRecord(file, space, key)
        }
        yield { key, record: bytes as unknown as Unsealed }
      }
    },
    // lmdb modifies the options object that it gets, so each call passes a copy.
    getKeys: (range) => database.getKeys({ ...range } as RangeOptions),
    getKeysCount: (range) => database.getKeysCount({ ...range } as RangeOptions),
    isSealed(key) {
      const bytes = database.getBinary(key)
      return bytes === undefined || isSealed(bytes)
    },
    lost: (key) => new DamagedRecord(file, space, key),
    put: (key, record) => database.put(key, sealed(key, record)),
    putSync: (key, record) => void database.putSync(key, sealed(key, record)),
    remove: (key) => database.remove(key),
    removeSync: (key) => void database.removeSync(key),
    clearSync: () => database.clearSync(),
  }
}

/**
 * @returns a function that runs a read and returns undefined, after a call of `noteDamage`, if a
 * record is damaged
 */
export function soundly(noteDamage: (damage: DamagedRecord) => void) {
  return <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error
      noteDamage(error)
      return undefined
    }
  }
}
