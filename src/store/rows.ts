import type { StoreKey } from './checked-space.js'
import type { Unsealed } from './encodings/sealing.js'
import type { KeySpace } from './key-spaces.js'

/**
 * One write of a batch, in which nothing can fail any longer; null removes the record. The rows of
 * a commit are complete: with them, any machine can apply the commit.
 */
export type Row = readonly [space: KeySpace, key: StoreKey, value: Unsealed | null]

/**
 * The most characters in a key, over all of its parts. LMDB refuses a key of more than 1,978 bytes,
 * and a character takes at most three; ours have some 150.
 */
const KEY_CHARS_MAX = 600

/** @throws Error for a key that LMDB would refuse only after others of its batch were written */
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
  throw new Error(`${space} has only keys of texts and numbers`)
}
