import type { StoreKey } from '../../src/store/checked-space.js'
import { opened, seal, type Unsealed } from '../../src/store/encodings/sealing.js'
import type { Environment } from '../../src/store/environment.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'
import { WrittenBodies } from '../../src/store/written-bodies.js'

/**
 * The store's environment in memory, for models that restart an actor thousands of times: the
 * reader and the writer on top are the real ones. Values are copied on the way in, as a disk
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
  const writtenBodies = new WrittenBodies()
  const noteDamage = () => undefined
  return { root, spaces, recordVersions, writtenBodies, noteDamage } as unknown as Environment
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
  put(key: StoreKey, value: Unsealed): Promise<boolean>
  remove(key: StoreKey): Promise<boolean>
  getKeys(options: RangeOptions): StoreKey[]
  getRange(options?: RangeOptions): { key: StoreKey; value: unknown }[]
  getSound(options?: RangeOptions): { key: StoreKey; value: unknown }[]
  lost(key: StoreKey): Error
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
      rows.set(name(key), { key, value: opened(seal(value, 0), value.length, 0) })
      return true
    },
    async remove(key) {
      return rows.delete(name(key))
    },
    getKeys: (options) => getRange(options).map(({ key }) => key),
    getRange,
    getSound: getRange,
    lost: (key) => new Error(`${JSON.stringify(key)} is lost`),
  }
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
