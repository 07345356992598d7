import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StoreKey } from '../../src/store/checked-space.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  appendEvents,
  entryAt,
  eventIdOf,
  OLD_MS,
  OTHER,
  prune,
  seqsOf,
  txIdAt,
} from './retention-world.js'
import { transaction, USER_ID } from './wallet-fixtures.js'

/** One damaged record keeps what depends on it, and nothing else. */

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

/** Flips a bit of a record, as a disk does. */
async function damage(space: KeySpace, key: StoreKey): Promise<void> {
  const { root } = store.environment
  const records = root.openDB<Buffer, StoreKey>({ name: KEY_SPACES[space], encoding: 'binary' })
  const bytes = Buffer.from(records.get(key) ?? Buffer.alloc(0))
  const last = bytes.length - 1
  bytes[last] = (bytes[last] ?? 0) ^ 1
  await records.put(key, bytes)
  store.reader.fresh()
  expect(() => store.environment.spaces[space].get(key)).toThrow('is damaged')
}

const verdict = { atMs: OLD_MS, reservedMicros: 1n, lists: [] }

test('events of a transaction that cannot be read stay, and those of others go', async () => {
  const tx = transaction(1, { status: 'confirmed' })
  await store.write((writer) => writer.addTransaction(tx, null))
  const said = { type: 'transaction.confirmed', data: { tx_id: tx.txId } } as const
  await appendEvents(store, 1, OLD_MS, said)
  await appendEvents(store, 2, OLD_MS, { userId: OTHER })
  await damage('transactions', tx.txId)
  expect(prune(store)).toMatchObject({ events: 2, heldBack: 1 })
  expect(seqsOf(store)).toEqual([1])
  expect(seqsOf(store, OTHER)).toEqual([])
})

test('events go though the names that they had before cannot be read', async () => {
  await appendEvents(store, 1, OLD_MS, { eventId: eventIdOf(1), type: 'webhook.test' })
  await appendEvents(store, 1, OLD_MS, { userId: OTHER })
  await damage('eventsById', eventIdOf(1))
  expect(prune(store)).toMatchObject({ events: 2 })
})

test('verdicts of a transaction that cannot be read stay, and those of others go', async () => {
  const [mine, other] = [txIdAt(OLD_MS), txIdAt(OLD_MS)]
  await store.write((writer) => {
    const said = { status: 'confirmed' } as const
    writer.addTransaction(transaction(1, { ...said, txId: mine }), verdict)
    writer.addTransaction(transaction(2, { ...said, txId: other, userId: OTHER }), verdict)
    writer.appendAudit(entryAt(OLD_MS, { txId: mine }))
    writer.appendAudit(entryAt(OLD_MS))
  })
  await damage('transactions', mine)
  expect(prune(store)).toMatchObject({ audit: 2 })
  expect(prune(store)).toMatchObject({ audit: 0 })
})

test('verdicts go though it cannot be read how far they went before', async () => {
  const pruned = async (atMs: number) => {
    const tx = transaction(1, { status: 'confirmed', txId: txIdAt(atMs) })
    await store.write((writer) => writer.addTransaction(tx, verdict))
    return prune(store).audit
  }
  expect(await pruned(OLD_MS)).toBe(1)
  await damage('retained', [USER_ID, 'verdicts'])
  expect(await pruned(OLD_MS + 1)).toBe(1)
  expect(store.environment.spaces.retained.get([USER_ID, 'verdicts'])).toBeDefined()
})
