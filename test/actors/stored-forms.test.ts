import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { AuditId, EventId } from '../../src/domain/ids.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { SubWalletHeader } from '../../src/domain/wallet.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { allowedAuditId } from '../../src/store/audit-trail.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/transactor.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  ATTEMPT,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
  USER_ID,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const HEADER: SubWalletHeader = {
  wallet,
  lanes: [{ chainId: 8453, nextNonce: 3 }],
  spend: [
    {
      lineageId: LINEAGE_ID,
      counters: { day: 1, dayMicros: 2n, month: 3, monthMicros: 2n ** 80n, reservedMicros: 0n },
    },
  ],
  open: [],
}
const MINED: Transaction['mined'] = {
  txHash: '0x01',
  blockNumber: 9,
  blockHash: '0x09',
  outcome: 'reverted',
  feeWei: 21_000n,
}
const LISTS = [{ list: 'ofac', version: '7', checked_at: '2026-01-01T00:00:00.000Z' }]

function event(said: Partial<NewEvent> = {}): NewEvent {
  return {
    eventId: null,
    userId: USER_ID,
    type: 'limit.reached',
    atMs: START_MS,
    subWalletId: WALLET_ID,
    laneKey: null,
    data: { percent: 80 },
    ...said,
  }
}

describe('what the store holds', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  test('comes back as it was put, with each of its parts', async () => {
    const cancelled = { ...ATTEMPT, txHash: '0x05', cancels: true } as const
    const error = { code: 'CHAIN_REJECTED', message: 'no' }
    const headers: SubWalletHeader[] = [
      HEADER,
      { ...HEADER, lanes: [], spend: [] },
      {
        ...HEADER,
        sponsored: { intentNonces: [{ chainId: 1, next: 2 }], gas: { day: 5, micros: 6n } },
        limitsTold: [
          { lineageId: LINEAGE_ID, period: 'daily', window: 1, limitMicros: 9n, percent: 80 },
        ],
        open: [txIdOf(1), txIdOf(2)],
      },
    ]
    for (const header of headers) {
      await store.write((transactor) => transactor.putSubWallet(header))
      expect(store.reader.subWallet(WALLET_ID)).toEqual(header)
    }
    const tx = transaction(1, {
      attempts: [ATTEMPT, cancelled],
      mined: MINED,
      error,
      confirmedAtMs: START_MS,
    })
    await store.write((transactor) => transactor.putTransaction(tx))
    expect(store.reader.transaction(tx.txId)).toStrictEqual(tx)
  })

  test('keeps the lists of a verdict apart from the details, for each entry its own', async () => {
    const base = { userId: USER_ID, atMs: START_MS, type: 'send.allowed' as const }
    const entries = [
      auditEntry({ ...base, details: { chain_id: 1 }, lists: LISTS, txId: txIdOf(1) }),
      auditEntry({ ...base, details: {}, lists: [] }),
      auditEntry({ ...base, details: { name: 'x' }, requestId: 'r' }),
      auditEntry({ ...base, details: { chain_id: 2 }, lists: LISTS }),
    ]
    await store.write((transactor) => {
      for (const entry of entries) transactor.appendAudit(entry)
    })
    const page = store.reader.auditOfUser(USER_ID, { limit: 9, cursor: null }, () => true)
    const byId = new Map(page.items.map((entry) => [entry.auditId, entry]))
    expect(entries.map(({ auditId }) => byId.get(auditId))).toStrictEqual(entries)
  })

  test('shows what was allowed among the other entries of the trail, and pages through both', async () => {
    const base = { userId: USER_ID, atMs: START_MS, details: {} }
    const allowed = (n: number) =>
      auditEntry(
        { ...base, type: 'send.allowed', lists: LISTS, txId: txIdOf(n) },
        allowedAuditId(txIdOf(n)),
      )
    await store.write((transactor) => {
      for (const n of [1, 3, 4, 7]) transactor.addTransaction(transaction(n), allowed(n))
      transactor.addTransaction(transaction(8), null)
      for (const n of [2, 5, 6]) {
        transactor.appendAudit(
          auditEntry({ ...base, type: 'send.refused' }, allowedAuditId(txIdOf(n))),
        )
      }
    })
    for (const limit of [1, 2, 3, 7, 9]) {
      const seen: AuditRecord[] = []
      let cursor: string | null = null
      do {
        const page = store.reader.auditOfUser(USER_ID, { limit, cursor }, () => true)
        seen.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(seen.map(({ auditId }) => auditId)).toEqual(
        [7, 6, 5, 4, 3, 2, 1].map((n) => allowedAuditId(txIdOf(n))),
      )
      expect(seen[0]).toStrictEqual(allowed(7))
      expect(seen.map(({ type }) => type === 'send.allowed')).toEqual([
        ...[true, false, false, true, true, false, true],
      ])
    }
  })

  test('gives back what a page that ends early has read with', async () => {
    const at = { userId: USER_ID, atMs: START_MS, details: {}, type: 'send.refused' } as const
    // More than LMDB has readers, of which each unfinished cursor would keep one.
    for (let n = 1; n <= 150; n++) {
      await store.write((transactor) => {
        transactor.addTransaction(transaction(n), null)
        transactor.appendAudit(auditEntry(at))
      })
      const page = store.reader.auditOfUser(USER_ID, { limit: 1, cursor: null }, () => true)
      expect(page.items).toHaveLength(1)
    }
    const readers = String(store.environment.root.readerList()).trim().split('\n')
    expect(readers.length).toBeLessThan(10)
  })

  test('finds an event by the id that the log gave it, and by one it came with', async () => {
    const given = 'evt_0000000000G000000000000000' as EventId
    const { txId, nonce, status, spentMicros, error, updatedAtMs, confirmedAtMs } = transaction(1)
    const kept = { nonce, status, spentMicros, error, updatedAtMs, confirmedAtMs }
    const moment = { txId, attemptCount: 1, mined: MINED, ...kept }
    await store.write((transactor) => {
      transactor.appendEvent(event())
      transactor.appendEvent(event({ eventId: given }))
      transactor.appendEvent(event({ data: null, moment }))
    })
    const [first, second, third] = store.reader.eventsOfUser(USER_ID, 0, 3)
    expect(first).toMatchObject({ seq: 1, data: { percent: 80 } })
    expect(first).not.toHaveProperty('moment')
    expect(second).toMatchObject({ seq: 2, eventId: given })
    expect(third).toMatchObject({ seq: 3, data: null, moment })
    const ids = [first, second, third].map((one) => one?.eventId as EventId)
    expect(ids.map((id) => store.reader.eventById(USER_ID, id)?.seq)).toEqual([1, 2, 3])
    // The log's own are in its order, also within a millisecond, and need no index.
    expect((first?.eventId ?? '') < (third?.eventId ?? '')).toBe(true)
    expect([...store.environment.spaces.eventsById.getKeys({})]).toEqual([given])
    // An id that names another's place is nobody's.
    const forged = `${ids[0]?.slice(0, -1)}${ids[0]?.endsWith('0') ? '1' : '0'}` as EventId
    expect(store.reader.eventById(USER_ID, forged)).toBeUndefined()
    expect(store.reader.eventById(USER_ID, 'evt_none' as EventId)).toBeUndefined()
  })

  test('is read as schema 4 wrote it, and gone on from', async () => {
    const { spaces } = store.environment
    const tx = transaction(1)
    const { subWalletId, userId, name, address, epoch, createdAtMs } = wallet
    const marks = [[[8453, 3]], [], null, null]
    const eventIds = [1, 2].map((n) => `evt_0000000000G00000000000000${n}` as EventId)
    await spaces.subWallets.put(WALLET_ID, [
      [subWalletId, userId, name, address, epoch, createdAtMs],
      marks,
    ])
    for (const [index, id] of eventIds.entries()) {
      const old = [id, 'limit.reached', START_MS, WALLET_ID, null, { index }, null]
      await spaces.userEvents.put([USER_ID, index + 1], old)
      await spaces.eventsById.put(id, index + 1)
    }
    await spaces.meta.put('last_event_seq:0', 2)
    await spaces.transactions.put(tx.txId, tx)
    await spaces.transactionsByUser.put([USER_ID, tx.txId], 1)
    await spaces.openByWallet.put([WALLET_ID, tx.txId], 1)
    const entry = ['aud_1', USER_ID, 1, 'send.allowed', null, null, null, tx.txId, {}]
    await spaces.audit.put([USER_ID, 'aud_1'], [entry, LISTS])
    store.reader.refresh()
    const reader = createReader(store.environment)
    expect(reader.subWallet(WALLET_ID)).toEqual({
      ...{ wallet, spend: [], open: [], lanes: [{ chainId: 8453, nextNonce: 3 }] },
    })
    expect([...reader.openTransactionsOfWallet(WALLET_ID)]).toEqual([tx])
    const page = reader.auditOfUser(USER_ID, { limit: 9, cursor: null }, () => true)
    expect(page.items).toMatchObject([{ auditId: 'aud_1', txId: tx.txId, lists: LISTS }])
    const sequence = attachEventSequence(createEventSequenceBuffer(1, reader.lastEventSeq()), 0)
    const batch = new WriteBatch()
    for (let n = 3; n <= 5; n++) batch.appendEvent(event())
    batch.unmarkOpen(WALLET_ID, tx.txId)
    await batch.commit(store.environment, sequence, new Set())
    reader.refresh()
    expect([...reader.eventsOfUser(USER_ID, 0, 9)].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    expect([...reader.eventsOfUser(USER_ID, 1, 4)].map(({ seq }) => seq)).toEqual([2, 3, 4])
    expect(eventIds.map((id) => reader.eventById(USER_ID, id)?.data)).toEqual([
      ...[{ index: 0 }, { index: 1 }],
    ])
    expect([...reader.openTransactionsOfWallet(WALLET_ID)]).toEqual([])
  })

  test('is read as builds before schema 4 wrote it', async () => {
    const { spaces } = store.environment
    const tx = transaction(1, { mined: MINED })
    const old = { ...event(), eventId: 'evt_0000000000G000000000000001' as EventId, seq: 7 }
    const entry = {
      ...{ auditId: 'aud_1' as AuditId, userId: USER_ID, atMs: 1, type: 'send.allowed' },
      ...{ subWalletId: null, keyId: null, requestId: null, txId: null },
      details: { chain_id: 1, lists: LISTS },
    }
    await spaces.transactions.put(tx.txId, tx)
    const { open: _, ...header } = HEADER
    await spaces.subWallets.put(WALLET_ID, header)
    await spaces.events.put(7, old)
    await spaces.eventsByUser.put([USER_ID, 7], 1)
    await spaces.eventsById.put(old.eventId, 7)
    await spaces.audit.put([USER_ID, 'aud_1'], entry)
    store.reader.refresh()
    // As the next build that opens it.
    const reader = createReader(store.environment)
    expect(reader.transaction(tx.txId)).toEqual(tx)
    expect(reader.subWallet(WALLET_ID)).toEqual(HEADER)
    expect(reader.eventById(USER_ID, old.eventId)).toEqual(old)
    expect([...reader.eventsOfUser(USER_ID, 0, 9)]).toEqual([old])
    expect([...reader.eventsOfUser(USER_ID, 7, 9)]).toEqual([])
    expect(reader.lastEventSeq()).toBe(7)
    const sequence = attachEventSequence(createEventSequenceBuffer(1, reader.lastEventSeq()), 0)
    const batch = new WriteBatch()
    batch.appendEvent(event())
    await batch.commit(store.environment, sequence, new Set())
    reader.refresh()
    expect([...reader.eventsOfUser(USER_ID, 0, 9)].map(({ seq }) => seq)).toEqual([7, 8])
    expect(reader.lastEventSeq()).toBe(8)
    const page = reader.auditOfUser(USER_ID, { limit: 9, cursor: null }, () => true)
    expect(page.items).toEqual([{ ...entry, lists: null }])
    await store.write((transactor) => transactor.putTransaction({ ...tx, status: 'confirmed' }))
    expect(store.reader.transaction(tx.txId)).toEqual({ ...tx, status: 'confirmed' })
  })
})
