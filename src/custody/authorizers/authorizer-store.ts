import { mkdirSync } from 'node:fs'
import { openRecorded } from '../../disk/recorded-writes.js'
import { concat, u32, viewOf } from '../../quorum-protocol/bytes.js'
import type { OwedEntry } from '../evidence/owed-entry.js'
import { type AuthorizerSet, ENTRIES_MAX, foldEntry, NO_AUTHORIZERS } from './authorizer-set.js'
import { type AuthorizerEntry, decodeEntry, encodeEntry } from './certificate.js'

/**
 * A domain's own memory of users' authorizers. Both domains have one, and neither can write the
 * other's: the service verifies what the identity provider reports about a user before it stores it.
 *
 * | database | key | value |
 * |---|---|---|
 * | 06-authorizers | owner hash 32 ‖ sequence 4 | entry, verified |
 * | 07-sign-counts | authorizer id 16 | highest use count seen |
 * | 16-owed-authorizers | number | entry that the evidence still lacks; only at the identity provider |
 *
 * The databases are in the ledger's environment; names are never reused.
 */
export interface AuthorizerStore {
  /** @param ownerHash 32 bytes */
  setOf(ownerHash: Uint8Array): AuthorizerSet
  /** Entries after a sequence, in order. */
  entriesAfter(ownerHash: Uint8Array, sequence: number): readonly AuthorizerEntry[]
  signCount(authorizerId: Uint8Array): number
  /**
   * Stores a verified entry. Resolves once it is durable, false when the sequence is already taken.
   */
  append(ownerHash: Uint8Array, sequence: number, entry: AuthorizerEntry): Promise<boolean>
  /**
   * The same, and records in the same transaction that the evidence lacks the entry.
   * @returns the number of that record; null when the sequence is already taken and nothing was
   * stored
   */
  appendOwed(
    ownerHash: Uint8Array,
    sequence: number,
    entry: AuthorizerEntry,
    owed: OwedEntry,
  ): Promise<number | null>
  /** Returns what the evidence lacks by number, oldest first. */
  owed(): readonly (readonly [number, OwedEntry])[]
  /** Removes entries that the log has on disk. Resolves once that is durable. */
  settleOwed(numbers: readonly number[]): Promise<void>
  /** Raises the stored counter and never lowers it. Resolves once it is durable. */
  raiseSignCount(authorizerId: Uint8Array, signCount: number): Promise<void>
  close(): Promise<void>
}

/** @param path LMDB directory, which may hold other databases */
export function openAuthorizerStore(path: string): AuthorizerStore {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = openRecorded({ path, overlappingSync: false, maxDbs: 32 })
  const entries = root.openDB<Buffer, Buffer>({
    name: '06-authorizers',
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  const signCounts = root.openDB<number, Buffer>({
    name: '07-sign-counts',
    keyEncoding: 'binary',
    encoding: 'msgpack',
  })
  const plain = { encoder: { useRecords: false } }
  const owedRows = root.openDB<OwedEntry, number>({ name: '16-owed-authorizers', ...plain })
  let lastOwed = 0
  for (const number of owedRows.getKeys({ reverse: true, limit: 1 })) lastOwed = number

  function entriesAfter(ownerHash: Uint8Array, sequence: number): AuthorizerEntry[] {
    const range = entries.getRange({
      start: entryKey(ownerHash, sequence + 1),
      end: entryKey(ownerHash, ENTRIES_MAX + 1),
    })
    return [...range].map(({ value }) => decodeEntry(Buffer.from(value)))
  }

  return {
    setOf: (ownerHash) => entriesAfter(ownerHash, 0).reduce(foldEntry, NO_AUTHORIZERS),
    entriesAfter,
    signCount: (authorizerId) => signCounts.get(viewOf(authorizerId)) ?? 0,
    append(ownerHash, sequence, entry) {
      const key = entryKey(ownerHash, sequence)
      return entries.ifNoExists(key, () => {
        void entries.put(key, encodeEntry(entry))
      })
    },
    async appendOwed(ownerHash, sequence, entry, owed) {
      const key = entryKey(ownerHash, sequence)
      const number = ++lastOwed
      const isKept = await entries.ifNoExists(key, () => {
        void entries.put(key, encodeEntry(entry))
        void owedRows.put(number, owed)
      })
      return isKept ? number : null
    },
    owed: () => [...owedRows.getRange()].map(({ key, value }) => [key, value] as const),
    async settleOwed(numbers) {
      await root.transaction(() => {
        for (const number of numbers) void owedRows.remove(number)
      })
    },
    async raiseSignCount(authorizerId, signCount) {
      const key = Buffer.from(authorizerId)
      await root.transaction(() => {
        if (signCount > (signCounts.get(key) ?? 0)) void signCounts.put(key, signCount)
      })
    },
    async close() {
      await root.close()
    },
  }
}

function entryKey(ownerHash: Uint8Array, sequence: number): Buffer {
  return concat(ownerHash, u32(sequence))
}
