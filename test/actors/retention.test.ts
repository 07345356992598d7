import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DeliveryRecord } from '../../actors/webhook-endpoint/core/delivery-record.js'
import type { EventId } from '../../src/domain/ids.js'
import { partitionOf } from '../../src/domain/partition.js'
import { listEvents } from '../../src/operations/console/events.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { STEP_RECORDS_MAX } from '../../src/store/retention/step.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  addEndpoint,
  appendEvents,
  entryAt,
  eventIdOf,
  NOW_MS,
  newEvent,
  OLD_MS,
  OTHER,
  prune,
  seqsOf,
  txIdAt,
  YOUNG_MS,
} from './retention-world.js'
import { transaction, USER_ID } from './wallet-fixtures.js'

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

describe('the event log', () => {
  test('loses its oldest events alone, of each user, and says where it begins', async () => {
    await appendEvents(store, 3, OLD_MS)
    await appendEvents(store, 2, OLD_MS, { userId: OTHER })
    await appendEvents(store, 3, YOUNG_MS)
    expect(prune(store)).toMatchObject({ events: 5, heldBack: 0 })
    expect(seqsOf(store)).toEqual([4, 5, 6])
    expect(store.reader.events.logStart(USER_ID)).toBe(3)
    expect(seqsOf(store, OTHER)).toEqual([])
    expect(store.reader.events.logStart(OTHER)).toBe(2)
    await appendEvents(store, 1, NOW_MS)
    expect(seqsOf(store)).toEqual([4, 5, 6, 7])
    expect(prune(store)).toMatchObject({ events: 0 })
  })

  test('keeps what comes after a young event, however old it says to be', async () => {
    await appendEvents(store, 1, OLD_MS)
    await appendEvents(store, 1, YOUNG_MS)
    await appendEvents(store, 1, OLD_MS)
    prune(store)
    expect(seqsOf(store)).toEqual([2, 3])
  })

  test('keeps what a webhook has not read yet, enabled or disabled, from there on', async () => {
    for (let n = 0; n < 6; n++) await appendEvents(store, 1, OLD_MS)
    await addEndpoint(store, { cursor: 4 })
    await addEndpoint(store, { cursor: 2, disabledBecause: 'console' })
    await addEndpoint(store, { cursor: 0 }, ['limit.reached'])
    expect(prune(store)).toMatchObject({ events: 2, heldBack: 1 })
    expect(seqsOf(store)).toEqual([3, 4, 5, 6])
  })

  test('keeps what a webhook read and has not delivered', async () => {
    for (let n = 0; n < 4; n++) await appendEvents(store, 1, OLD_MS)
    const eventId = store.reader.events.bySeq(USER_ID, 2)?.eventId as EventId
    const waits = { phase: 'waiting', failures: 3, nextTryAtMs: NOW_MS, attemptId: 0 } as const
    await addEndpoint(store, { cursor: 4, pending: [{ eventId, seq: 2, laneKey: null, ...waits }] })
    expect(prune(store)).toMatchObject({ events: 1, heldBack: 1 })
    expect(seqsOf(store)).toEqual([2, 3, 4])
  })

  test('keeps the events of a transaction until that is final', async () => {
    const tx = transaction(1, { status: 'broadcast' })
    await store.write((writer) => {
      writer.addTransaction(tx, null)
      writer.appendEvent(newEvent(OLD_MS))
    })
    await appendEvents(store, 1, OLD_MS, {
      type: 'transaction.broadcast',
      data: { tx_id: tx.txId },
    })
    expect(prune(store)).toMatchObject({ events: 1, heldBack: 1 })
    await store.write((writer) => writer.putTransaction({ ...tx, status: 'confirmed' }))
    expect(prune(store)).toMatchObject({ events: 1, heldBack: 0 })
    expect(seqsOf(store)).toEqual([])
  })

  test('forgets the names of events that had one before their place', async () => {
    await appendEvents(store, 1, OLD_MS, { eventId: eventIdOf(1), type: 'webhook.test' })
    expect(store.reader.events.byId(USER_ID, eventIdOf(1))?.seq).toBe(1)
    prune(store)
    expect(store.reader.events.byId(USER_ID, eventIdOf(1))).toBeUndefined()
    expect([...store.environment.spaces.eventsById.getKeys({})]).toEqual([])
  })

  test('goes on in places where it ended, though nothing of it is left', async () => {
    await appendEvents(store, 5, OLD_MS)
    prune(store)
    expect(store.reader.events.lastSeqs()[partitionOf(USER_ID)]).toBe(5)
  })

  test('is read from its beginning, and never from before it without a word', async () => {
    await appendEvents(store, 3, OLD_MS)
    await appendEvents(store, 2, YOUNG_MS)
    prune(store)
    const ports = { reader: store.reader, readableSeq: () => 5 } as unknown as OperationPorts
    const read = (after?: number) =>
      listEvents(ports)(
        {
          ...{ requestId: 'r', userId: USER_ID, personId: USER_ID, role: 'owner' as const },
          ...{ email: null, token: '', presentedKey: null },
        },
        after === undefined ? {} : { after },
      )
    const seqs = [{ seq: 4 }, { seq: 5 }]
    const whole = { events: seqs, next_after: 5, has_more: false, log_starts_after: 3 }
    expect(read()).toMatchObject({ ok: true, value: whole })
    expect(read(0)).toMatchObject({ ok: true, value: whole })
    expect(read(3)).toMatchObject({ ok: true, value: whole })
    expect(read(4)).toMatchObject({ ok: true, value: { events: [{ seq: 5 }] } })
    for (const after of [1, 2]) {
      expect(read(after)).toMatchObject({
        ok: false,
        fault: { code: 'INVALID_REQUEST', details: { after, log_starts_after: 3 } },
      })
    }
  })
})

describe('the history of deliveries', () => {
  test('loses what ended long ago, and nothing that is pending', async () => {
    const webhookId = await addEndpoint(store, {})
    const record = (n: number, said: Partial<DeliveryRecord>): DeliveryRecord => ({
      eventId: eventIdOf(n),
      seq: n,
      status: 'delivered',
      attemptCount: 1,
      attempts: [],
      nextTryAtMs: null,
      createdAtMs: OLD_MS,
      updatedAtMs: OLD_MS,
      ...said,
    })
    const records = [
      record(1, {}),
      record(2, { status: 'pending' }),
      record(3, { updatedAtMs: YOUNG_MS }),
      record(4, { status: 'exhausted' }),
    ]
    await store.write((writer) => {
      for (const one of records) writer.putDeliveryRecord(webhookId, one.eventId, one)
    })
    expect(prune(store)).toMatchObject({ deliveries: 2 })
    expect([...store.reader.deliveries.eventIds(webhookId, 10)]).toEqual([
      eventIdOf(2),
      eventIdOf(3),
    ])
  })
})

describe('the audit trail', () => {
  const all = (limit = 100) =>
    store.reader.audit.ofUser(USER_ID, { limit, cursor: null }, () => true).items

  test('loses what is old, and keeps the rest in order', async () => {
    const young = entryAt(YOUNG_MS)
    await store.write((writer) => {
      writer.appendAudit(entryAt(OLD_MS))
      writer.appendAudit(entryAt(OLD_MS + 1))
      writer.appendAudit(young)
      writer.appendAudit(entryAt(OLD_MS, { userId: OTHER }))
    })
    expect(prune(store)).toMatchObject({ audit: 3 })
    expect(all()).toEqual([young])
  })

  test('loses the verdict of an old transaction that is final, and never the transaction', async () => {
    const ids = [txIdAt(OLD_MS), txIdAt(OLD_MS + 1), txIdAt(YOUNG_MS)]
    const verdict = { atMs: OLD_MS, reservedMicros: 1n, lists: [] }
    await store.write((writer) => {
      ids.forEach((txId, n) => {
        const status = n === 1 ? 'broadcast' : 'confirmed'
        writer.addTransaction(transaction(n, { txId, status }), verdict)
      })
    })
    expect(all()).toHaveLength(3)
    expect(prune(store)).toMatchObject({ audit: 1 })
    expect(all().map(({ txId }) => txId)).toEqual([ids[2], ids[1]])
    const page = store.reader.transactions.ofUser(USER_ID, { limit: 9, cursor: null }, () => true)
    expect(page.items).toHaveLength(3)
    expect(prune(store)).toMatchObject({ audit: 0 })
  })

  test('keeps an entry of a transaction that is not final', async () => {
    const tx = transaction(1, { status: 'broadcast' })
    const entry = entryAt(OLD_MS, { txId: tx.txId })
    await store.write((writer) => {
      writer.addTransaction(tx, null)
      writer.appendAudit(entry)
    })
    expect(prune(store)).toMatchObject({ audit: 0 })
    expect(all()).toEqual([entry])
  })
})

describe('a pass', () => {
  test('looks at a bounded number of records at a time', async () => {
    for (let n = 0; n < 2 * STEP_RECORDS_MAX + 10; n++) {
      await store.write((writer) => {
        writer.appendEvent(newEvent(OLD_MS))
        writer.appendAudit(entryAt(OLD_MS))
      })
    }
    const { steps, ...pruned } = prune(store)
    expect(pruned).toMatchObject({
      events: 2 * STEP_RECORDS_MAX + 10,
      audit: 2 * STEP_RECORDS_MAX + 10,
    })
    for (const { events, audit } of steps) {
      expect(events + audit).toBeLessThanOrEqual(STEP_RECORDS_MAX)
    }
    expect(seqsOf(store)).toEqual([])
  })

  test('that only counts finds the same and changes nothing', async () => {
    for (let n = 0; n < STEP_RECORDS_MAX + 5; n++) await appendEvents(store, 2, OLD_MS)
    await store.write((writer) => writer.appendAudit(entryAt(OLD_MS)))
    const { steps: _, ...counted } = prune(store, 'count')
    expect(counted).toMatchObject({ events: 2 * STEP_RECORDS_MAX + 10, audit: 1 })
    expect(seqsOf(store)).toHaveLength(2 * STEP_RECORDS_MAX + 10)
    expect(store.reader.events.logStart(USER_ID)).toBe(0)
    const { steps: __, ...pruned } = prune(store)
    expect(pruned).toEqual(counted)
  })
})
