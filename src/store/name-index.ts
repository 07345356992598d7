import type { RootDatabase } from 'lmdb'
import type { ApiKey } from '../domain/api-key.js'
import { wordsOf } from '../domain/name-words.js'
import type { SubWallet } from '../domain/wallet.js'
import { type Space, soundly } from './checked-space.js'
import { bareRecord, PRESENT, type Unsealed, unpacked } from './encodings/sealing.js'
import { decodeSubWallet } from './encodings/sub-wallet.js'
import type { KeySpace } from './key-spaces.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * Indexes keys and wallets by name. There is a row for each prefix of each word of a name, so the
 * rows of one prefix lie side by side, newest last, as in the lists by user.
 *
 * Rows are derived from the records in the commit that writes these, not by the code that writes
 * them, because a journal with entries of an older build has no such rows. Matches are compared
 * with their records.
 */

type Spaces = Readonly<Record<KeySpace, Space>>
export type IndexedSpace = 'apiKeys' | 'subWallets'

/** Length of indexed prefixes; the record is compared for longer search words. */
const PREFIX_CHARS_MAX = 16

/** Records that are indexed in one transaction when the index is built. */
const BUILT_AT_ONCE = 5_000

/** What the index is built from and kept in. */
interface Opened {
  readonly root: RootDatabase
  readonly spaces: Spaces
}

interface Named {
  readonly userId: string
  readonly id: string
  readonly name: string
}

const INDEXES = {
  apiKeys: {
    byName: 'keysByName',
    namedOf: (stored: unknown): Named => {
      const { userId, keyId, name } = stored as ApiKey
      return { userId, id: keyId, name }
    },
  },
  subWallets: {
    byName: 'walletsByName',
    namedOf: (stored: unknown): Named => {
      const { userId, subWalletId, name }: SubWallet = decodeSubWallet(stored)
      return { userId, id: subWalletId, name }
    },
  },
} as const

function isIndexed(space: string): space is IndexedSpace {
  return space === 'apiKeys' || space === 'subWallets'
}

/** The space that indexes the names of this one's records. */
export function spaceByName(space: IndexedSpace) {
  return INDEXES[space].byName
}

/** The prefix under which a search word is looked up. */
export function beginningOf(word: string): string {
  return [...word].slice(0, PREFIX_CHARS_MAX).join('')
}

/** Keys of one record's rows. */
function rowKeysOf({ userId, id, name }: Named): readonly string[][] {
  const begins = new Set<string>()
  for (const word of wordsOf(name)) {
    const chars = [...word].slice(0, PREFIX_CHARS_MAX)
    for (let length = 1; length <= chars.length; length++) {
      begins.add(chars.slice(0, length).join(''))
    }
  }
  return [...begins].map((begin) => [userId, begin, id])
}

/**
 * Returns the index rows that follow from these rows. It reads the records that were stored before,
 * so all earlier writes must be in the store.
 * @param rows rows of one commit, or of consecutive ones
 */
export function nameRows({ root, spaces }: Opened, rows: readonly Row[]): readonly Row[] {
  if (!rows.some(([space]) => isIndexed(space))) return []
  root.resetReadTxn()
  // A damaged record leaves its rows in the index; they match nothing.
  const ifSound = soundly(() => undefined)
  const written = new Map<string, Named | null>()
  const index: Row[] = []
  for (const [space, key, value] of rows) {
    if (!isIndexed(space)) continue
    const id = String(key)
    const before = written.has(id) ? written.get(id) : ifSound(() => storedAt(spaces, space, id))
    const after = value === null ? null : namedIn(space, value)
    written.set(id, after)
    if (before?.name === after?.name && before?.userId === after?.userId) continue
    const { byName } = INDEXES[space]
    if (before != null) {
      for (const at of rowKeysOf(before)) index.push(removalOf(byName, at))
    }
    if (after !== null) {
      for (const at of rowKeysOf(after)) index.push(putOf(byName, at, PRESENT))
    }
  }
  return index
}

function storedAt(spaces: Spaces, space: IndexedSpace, id: string): Named | undefined {
  const stored = spaces[space].get(id)
  return stored === undefined ? undefined : INDEXES[space].namedOf(stored)
}

function namedIn(space: IndexedSpace, value: Unsealed): Named {
  return INDEXES[space].namedOf(unpacked(bareRecord(value) as Uint8Array))
}

/**
 * Builds the index of a store that has none. It starts over after a crash, since the caller marks
 * the index as built only after this returns.
 */
export function buildNameIndex({ root, spaces }: Opened): void {
  for (const space of ['apiKeys', 'subWallets'] as const) {
    const { byName, namedOf } = INDEXES[space]
    for (let last: string | null = null; ; ) {
      const after: { start?: string; exclusiveStart?: boolean } =
        last === null ? {} : { start: last, exclusiveStart: true }
      const range = { ...after, limit: BUILT_AT_ONCE }
      const newest = [...spaces[space].getKeys(range)].at(-1)
      if (newest === undefined) break
      const named = [...spaces[space].getSound(range)].map(({ value }) => namedOf(value))
      root.transactionSync(() => {
        for (const one of named) {
          for (const at of rowKeysOf(one)) spaces[byName].putSync(at, PRESENT)
        }
      })
      last = String(newest)
    }
  }
}
