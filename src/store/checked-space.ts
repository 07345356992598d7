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

/** lmdb keys: strings, numbers, and tuples of them, ordered as one expects. */
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

/** One key space. Records are sealed when they are put, and checked when they are read. */
export interface Space {
  /** @throws DamagedRecord */
  get(key: StoreKey): unknown
  /** @throws DamagedRecord at the first that is damaged */
  getRange(range: StoreRange): Iterable<Entry>
  /**
   * Without those that are damaged, which `noteDamage` hears of: for whoever looks at the records of
   * many, and must not be stopped by one.
   */
  getSound(range: StoreRange): Iterable<Entry>
  /**
   * All records as they are stored, of one moment and in the order of their keys, for a copy of them.
   * Their bytes are lent until the next.
   * @throws DamagedRecord at the first that is damaged
   */
  getStored(moment: Transaction): Iterable<StoredRecord>
  getKeys(range: StoreRange): Iterable<StoreKey>
  getKeysCount(range: StoreRange): number
  /** False for a small number that a build put which sealed nothing. */
  isSealed(key: StoreKey): boolean
  /** What to throw for a record that is not there, though it was put. */
  lost(key: StoreKey): DamagedRecord
  put(key: StoreKey, record: Unsealed): Promise<boolean>
  putSync(key: StoreKey, record: Unsealed): void
  remove(key: StoreKey): Promise<boolean>
  removeSync(key: StoreKey): void
  /** Removes all there is. */
  clearSync(): void
}

/** A record behind its seal, which may be put anew as it is. */
export interface StoredRecord {
  readonly key: StoreKey
  readonly record: Unsealed
}

/** A record is not what was put, or not where. Its value is not shown. */
export class DamagedRecord extends FaultError {
  override readonly name = 'DamagedRecord'

  constructor(file: string, space: KeySpace, key: StoreKey) {
    const internal = `${file}: the record ${JSON.stringify(key)} of ${space} is damaged`
    super(fault('RECORD_DAMAGED', { space }, undefined, internal))
  }
}

export interface SpaceOptions {
  /** For messages. */
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
      // Lent until the next read, and as long as they say.
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
    // lmdb makes the object that it is given one for keys alone, or for none.
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

/** @returns a read that gives nothing where a record is damaged, which `noteDamage` hears of */
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
