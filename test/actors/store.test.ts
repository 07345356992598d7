import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EventId, SubWalletId, TxId, UserId } from '../../src/domain/ids.js'
import { partitionOf } from '../../src/domain/partition.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { SubWalletHeader } from '../../src/domain/wallet.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  apiKey,
  ATTEMPT as attempt,
  CHAIN_ID,
  KEY_ID,
  transaction,
  txIdOf,
  USER_ID,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const STRANGER = 'user_0000000000000000000000000Z' as UserId

/** Of the same partition, whose places they share. */
const NEIGHBOUR = Array.from({ length: 1_000 }, (_, n) => `user_${n}` as UserId).find(
  (user) => partitionOf(user) === partitionOf(USER_ID),
) as UserId

describe('the store', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  test('gives back what was put in: bigints as bigints of any size, numbers as numbers', async () => {
    const tx = transaction(1, { value: 2n ** 256n - 1n, spentMicros: 0n })
    await store.write((writer) => writer.putTransaction(tx))
    expect(store.reader.transactions.byId(tx.txId)).toEqual(tx)
  })

  test('gives back each version of a transaction as it was put, whichever of its parts changed', async () => {
    const signed = transaction(1, { attempts: [attempt] })
    const sent: Transaction = { ...signed, status: 'broadcast', updatedAtMs: 1_750_000_000_001 }
    const bumped: Transaction = { ...sent, attempts: [attempt, { ...attempt, txHash: '0x04' }] }
    const moved: Transaction = { ...bumped, nonce: 7, reservation: { ...bumped.reservation } }
    const long: Transaction = {
      ...moved,
      call: { ...moved.call, data: `0x${'ab'.repeat(9_000)}` },
    }
    const error = { code: 'CHAIN_REJECTED', message: 'no' }
    const ended: Transaction = { ...long, status: 'dropped', spentMicros: 0n, error }
    const reopened: Transaction = { ...ended, status: 'broadcast', error: null }
    for (const version of [signed, sent, bumped, moved, long, ended, reopened]) {
      await store.write((writer) => writer.putTransaction(version))
      expect(store.reader.transactions.byId(version.txId)).toEqual(version)
    }
  })

  test('gives back more transactions than it keeps encoded, each as it was changed last', async () => {
    const many = Array.from({ length: 2_100 }, (_, n) => transaction(n + 1))
    await store.write((writer) => {
      for (const tx of many) writer.putTransaction(tx)
      for (const tx of many) writer.putTransaction({ ...tx, status: 'broadcast' })
    })
    for (const tx of many) {
      expect(store.reader.transactions.byId(tx.txId)).toEqual({ ...tx, status: 'broadcast' })
    }
  })

  test('shows nothing of a batch before it is committed, and all of it after', async () => {
    await store.write((writer) => {
      writer.putApiKey(apiKey())
      expect(store.reader.keys.byId(KEY_ID)).toBeUndefined()
      expect(store.reader.keys.byHash(apiKey().secretHash)).toBeUndefined()
    })
    expect(store.reader.keys.byId(KEY_ID)).toEqual(apiKey())
    expect(store.reader.keys.byHash(apiKey().secretHash)).toEqual(apiKey())
    expect([...store.reader.keys.ofWallet(WALLET_ID)]).toEqual([apiKey()])
  })

  test('lists page by page, newest first, without a gap, a repeat or a stranger', async () => {
    await store.write((writer) => {
      for (let n = 1; n <= 57; n++) writer.addTransaction(transaction(n), null)
      writer.addTransaction(transaction(58, { userId: STRANGER }), null)
    })
    const seen: TxId[] = []
    let cursor: string | null = null
    do {
      const page = store.reader.transactions.ofUser(USER_ID, { limit: 10, cursor }, () => true)
      expect(page.items.length).toBeLessThanOrEqual(10)
      seen.push(...page.items.map(({ txId }) => txId))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(Array.from({ length: 57 }, (_, i) => txIdOf(57 - i)))
  })

  test('a page is filled from what a filter wants, and ends when there is no more', async () => {
    await store.write((writer) => {
      for (let n = 1; n <= 40; n++) writer.addTransaction(transaction(n), null)
    })
    const even = (tx: Transaction) => tx.nonce % 2 === 0
    const first = store.reader.transactions.ofUser(USER_ID, { limit: 15, cursor: null }, even)
    expect(first.items.map(({ nonce }) => nonce)).toEqual(
      Array.from({ length: 15 }, (_, i) => 40 - 2 * i),
    )
    const rest = store.reader.transactions.ofUser(
      USER_ID,
      { limit: 15, cursor: first.nextCursor },
      even,
    )
    expect(rest.items.map(({ nonce }) => nonce)).toEqual([10, 8, 6, 4, 2])
    expect(rest.nextCursor).toBeNull()
  })

  test('a filter that wants nothing does not read a whole history in one go', async () => {
    await store.write((writer) => {
      for (let n = 1; n <= 5_010; n++) writer.addTransaction(transaction(n), null)
    })
    const none = () => false
    const first = store.reader.transactions.ofUser(USER_ID, { limit: 10, cursor: null }, none)
    expect(first.items).toEqual([])
    expect(first.nextCursor).toBe(txIdOf(11))
    const second = store.reader.transactions.ofUser(
      USER_ID,
      { limit: 10, cursor: first.nextCursor },
      none,
    )
    expect(second).toEqual({ items: [], nextCursor: null })
  })

  test('open transactions are found by wallet and by chain, listed or indexed, while they are open', async () => {
    const other = 'sw_0000000000000000000000000Z' as SubWalletId
    const header: SubWalletHeader = { wallet, lanes: [], spend: [], open: [] }
    await store.write((writer) => {
      writer.addTransaction(transaction(1), null)
      writer.addTransaction(transaction(2, { chainId: 10 }), null)
      writer.addTransaction(transaction(3, { subWalletId: other }), null)
      writer.addTransaction(transaction(4), null)
      writer.addSubWallet({ ...header, open: [txIdOf(1), txIdOf(4)] })
      writer.markOpen(WALLET_ID, null)
      writer.markOpen(WALLET_ID, txIdOf(2))
      writer.markOpen(other, txIdOf(3))
    })
    const open = () => [...store.reader.transactions.openOfWallet(WALLET_ID)].map((it) => it.nonce)
    const onChain = () => [...store.reader.transactions.openOfChain(CHAIN_ID)].map((it) => it.nonce)
    expect(open()).toEqual([4, 2, 1])
    expect(onChain()).toEqual([1, 4, 3])
    await store.write((writer) => {
      writer.putSubWalletMarks({ ...header, open: [txIdOf(4)] })
      writer.unmarkOpen(WALLET_ID, txIdOf(2))
    })
    expect(open()).toEqual([4])
    expect(onChain()).toEqual([4, 3])
    await store.write((writer) => {
      writer.putSubWalletMarks(header)
      writer.unmarkOpen(WALLET_ID, null)
    })
    expect(open()).toEqual([])
    expect(onChain()).toEqual([3])
  })

  test('events have a place each, in order, and are found by user and by id', async () => {
    const event = (n: number, userId: UserId) => ({
      eventId: `evt_${n}` as EventId,
      userId,
      type: 'transaction.confirmed' as const,
      atMs: n,
      subWalletId: WALLET_ID,
      laneKey: null,
      data: { n },
    })
    await store.write((writer) => {
      for (let n = 1; n <= 6; n++) writer.appendEvent(event(n, n % 2 ? USER_ID : NEIGHBOUR))
    })
    expect(store.reader.events.lastSeqs()[partitionOf(USER_ID)]).toBe(6)
    const mine = (afterSeq: number, through: number) =>
      [...store.reader.events.ofUser(USER_ID, afterSeq, through)].map(({ seq }) => seq)
    expect(mine(0, 6)).toEqual([1, 3, 5])
    expect(mine(1, 6)).toEqual([3, 5])
    expect(mine(0, 4)).toEqual([1, 3])
    await store.write((writer) => {
      for (let n = 7; n <= 300; n++) writer.appendEvent(event(n, n % 3 ? USER_ID : NEIGHBOUR))
    })
    const all = Array.from({ length: 300 }, (_, i) => i + 1)
    const ofUser = all.filter((n) => (n > 6 ? n % 3 !== 0 : n % 2 === 1))
    expect(mine(0, 300)).toEqual(ofUser)
    // Wherever a reader stops, it goes on from there.
    for (const n of all) {
      expect(mine(n, 300)).toEqual(ofUser.filter((seq) => seq > n))
      expect(mine(0, n)).toEqual(ofUser.filter((seq) => seq <= n))
      expect(store.reader.events.bySeq(USER_ID, n)?.data).toEqual(
        ofUser.includes(n) ? { n } : undefined,
      )
    }
    expect(store.reader.events.bySeq(USER_ID, 301)).toBeUndefined()
    expect(store.reader.events.byId(NEIGHBOUR, 'evt_4' as EventId)).toMatchObject({ seq: 4 })
    expect(store.reader.events.byId(USER_ID, 'evt_4' as EventId)).toBeUndefined()
  })
})
