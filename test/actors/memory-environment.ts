import { asBinary } from 'lmdb'
import { Unpackr } from 'msgpackr'
import { RECORD_ENCODER } from '../../src/store/encodings/packing.js'
import type { Environment, StoreKey } from '../../src/store/environment.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { KnownBodies } from '../../src/store/known-bodies.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'

/**
 * The store's environment in memory, for models that restart an actor thousands of times: the
 * reader and the transactor on top are the real ones. Values are copied on the way in, as a disk
 * would, so that a state that is changed in place cannot change what was stored.
 */
export function createMemoryEnvironment(): Environment {
  const spaces = Object.fromEntries(
    Object.keys(KEY_SPACES).map((space) => [space, memorySpace()]),
  ) as Record<KeySpace, MemorySpace>
  const root = {
    batch(writes: () => void): Promise<boolean> {
      writes()
      return Promise.resolve(true)
    },
    resetReadTxn(): void {},
  }
  const recordVersions = attachVersions(createVersionsBuffer())
  const knownBodies = new KnownBodies()
  return { root, spaces, recordVersions, knownBodies } as unknown as Environment
}

interface RangeOptions {
  readonly start?: StoreKey
  readonly end?: StoreKey
  readonly exclusiveStart?: boolean
  readonly reverse?: boolean
  readonly limit?: number
}

interface MemorySpace {
  get(key: StoreKey): unknown
  put(key: StoreKey, value: unknown): Promise<boolean>
  remove(key: StoreKey): Promise<boolean>
  getKeys(options: RangeOptions): StoreKey[]
  getRange(options?: RangeOptions): { key: StoreKey; value: unknown }[]
}

function memorySpace(): MemorySpace {
  const rows = new Map<string, { readonly key: StoreKey; readonly value: unknown }>()
  const name = (key: StoreKey) => JSON.stringify(key)
  /** As lmdb has it: from start (with it) to end (without it), backwards when reversed. */
  function getRange(options: RangeOptions = {}): { key: StoreKey; value: unknown }[] {
    const { start, end, exclusiveStart = false, reverse = false, limit } = options
    const sign = reverse ? -1 : 1
    const inside = [...rows.values()].filter(({ key }) => {
      if (start !== undefined) {
        const fromStart = compareKeys(key, start) * sign
        if (fromStart < 0 || (fromStart === 0 && exclusiveStart)) return false
      }
      return end === undefined || compareKeys(key, end) * sign < 0
    })
    inside.sort((a, b) => compareKeys(a.key, b.key) * sign)
    return inside.slice(0, limit)
  }
  return {
    get: (key) => rows.get(name(key))?.value,
    async put(key, value) {
      rows.set(name(key), { key, value: copyOf(value) })
      return true
    },
    async remove(key) {
      return rows.delete(name(key))
    },
    getKeys: (options) => getRange(options).map(({ key }) => key),
    getRange,
  }
}

const unpackr = new Unpackr(RECORD_ENCODER)
/** Where lmdb looks for a value that comes as its bytes. */
const [BYTES = ''] = Object.keys(asBinary(Buffer.alloc(0)))

function copyOf(value: unknown): unknown {
  const encoded = (value as Record<string, Uint8Array> | null)?.[BYTES]
  return encoded === undefined ? structuredClone(value) : unpackr.unpack(encoded)
}

/** Tuples part by part; a tuple sorts before its own continuations; numbers before strings. */
function compareKeys(a: StoreKey, b: StoreKey): number {
  const left = Array.isArray(a) ? a : [a]
  const right = Array.isArray(b) ? b : [b]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const x = left[i]
    const y = right[i]
    if (x === y) continue
    if (x === undefined) return -1
    if (y === undefined) return 1
    if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1
    return x < y ? -1 : 1
  }
  return 0
}
