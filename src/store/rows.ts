import type { StoreKey } from './checked-space.js'
import type { Unsealed } from './encodings/sealing.js'
import type { KeySpace } from './key-spaces.js'

/**
 * One write of a batch, with nothing left in it that can fail; null removes what is there. It says
 * all there is to say: whoever has the rows has the commit, on this machine or on another.
 */
export type Row = readonly [space: KeySpace, key: StoreKey, value: Unsealed | null]

/**
 * Characters of a key, all of its parts together. LMDB refuses a key of more than 1,978 bytes, and
 * a character takes three at most; ours have some 150.
 */
const KEY_CHARS_MAX = 600

/** @throws Error for a key that LMDB would refuse, when others of its batch are put already */
export function putOf(space: KeySpace, key: StoreKey, value: Unsealed): Row {
  checkKey(space, key)
  return [space, key, value]
}

/** @throws Error as `putOf` */
export function removalOf(space: KeySpace, key: StoreKey): Row {
  checkKey(space, key)
  return [space, key, null]
}

function checkKey(space: KeySpace, key: StoreKey): void {
  let chars = 0
  if (typeof key === 'object') {
    for (const part of key) chars += charsOf(space, part)
  } else chars = charsOf(space, key)
  if (chars === 0 || chars > KEY_CHARS_MAX) throw new Error(`${space} has no keys of that length`)
}

function charsOf(space: KeySpace, part: string | number): number {
  if (typeof part === 'string') return part.length
  if (Number.isFinite(part)) return 1
  throw new Error(`${space} has keys of texts and numbers alone`)
}
