import type { Space, StoreKey, StoreRange } from '../../src/store/checked-space.js'
import { DAMAGED, opened, placeOf, seal, type Unsealed } from '../../src/store/encodings/sealing.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { type NamedRow, placeFor, putRow, removeRow, rowNamed } from './named-rows.js'

interface Row extends NamedRow {
  readonly key: StoreKey
  readonly bytes: Uint8Array
  /** What they say, for those who look often; undefined until somebody did. */
  said: unknown
}

/** A space of a disk. */
export interface SpaceInMemory {
  readonly name: KeySpace
  /** Each read decodes what is there, as from LMDB. */
  readonly space: Space
  /** The same to look at, where a row is decoded once. */
  readonly lookedAt: Space
}

/** Sealed bytes in the order of their keys, read as they are from LMDB. */
export function spaceInMemory(name: KeySpace): SpaceInMemory {
  const rows: Row[] = []
  const number = Number.parseInt(KEY_SPACES[name], 10)
  function decoded({ key, bytes }: Row): unknown {
    const value = opened(bytes, bytes.length, placeOf(number, key))
    if (value === DAMAGED) throw new Error(`${JSON.stringify(key)} of ${name} is damaged`)
    return value
  }
  function remembered(row: Row): unknown {
    row.said ??= decoded(row)
    return row.said
  }
  return {
    name,
    space: spaceOver(rows, name, decoded),
    lookedAt: spaceOver(rows, name, remembered),
  }
}

function spaceOver(rows: Row[], space: KeySpace, read: (row: Row) => unknown): Space {
  const number = Number.parseInt(KEY_SPACES[space], 10)

  /** Where what comes after a key begins, the key itself or not. */
  function placeOfBound(key: StoreKey, isBehind: boolean): number {
    const name = nameOf(key)
    const at = placeFor(rows, name)
    return isBehind && rows[at]?.name === name ? at + 1 : at
  }

  /** As lmdb has it: from start (with it) to end (without it), backwards when reversed. */
  function within({ start, end, exclusiveStart = false, reverse, limit }: StoreRange): Row[] {
    const most = limit ?? rows.length
    if (reverse === true) {
      const from = end === undefined ? 0 : placeOfBound(end, true)
      const to = start === undefined ? rows.length : placeOfBound(start, !exclusiveStart)
      return rows.slice(Math.max(from, to - most), Math.max(from, to)).reverse()
    }
    const from = start === undefined ? 0 : placeOfBound(start, exclusiveStart)
    const to = end === undefined ? rows.length : placeOfBound(end, false)
    return rows.slice(from, Math.min(to, from + most))
  }

  /** Most readers want the first few. */
  function* entries(range: StoreRange) {
    for (const row of within(range)) yield { key: row.key, value: read(row) }
  }

  function put(key: StoreKey, record: Unsealed): void {
    const bytes = new Uint8Array(seal(record, placeOf(number, key)))
    putRow(rows, { name: nameOf(key), key, bytes, said: undefined })
  }

  function remove(key: StoreKey): void {
    removeRow(rows, nameOf(key))
  }

  return {
    get(key) {
      const row = rowNamed(rows, nameOf(key))
      return row === undefined ? undefined : read(row)
    },
    getRange: entries,
    getSound: entries,
    getKeys: (range) => within(range).map(({ key }) => key),
    getKeysCount: (range) => within(range).length,
    isSealed: () => true,
    lost: (key) => {
      throw new Error(`${JSON.stringify(key)} of ${space} is lost`)
    },
    async put(key, record) {
      put(key, record)
      return true
    },
    putSync: put,
    async remove(key) {
      remove(key)
      return true
    },
    removeSync: remove,
    clearSync: () => void rows.splice(0),
    // As they are now: nobody copies a simulated disk while it is written.
    *getStored() {
      for (const { key, bytes } of [...rows]) {
        yield { key, record: Buffer.from(bytes) as unknown as Unsealed }
      }
    },
  }
}

/** Digits of the largest safe integer. */
const NUMBER_CHARS = 16

/** A text that sorts as lmdb sorts the key: part by part, a tuple before what continues it, numbers before texts. */
function nameOf(key: StoreKey): string {
  if (!Array.isArray(key)) return partOf(key)
  return key.map(partOf).join('\u0000')
}

function partOf(part: string | number): string {
  if (typeof part === 'string') return `t${part}`
  if (!Number.isSafeInteger(part) || part < 0) throw new Error(`${part} is no place in a key`)
  return `n${String(part).padStart(NUMBER_CHARS, '0')}`
}
