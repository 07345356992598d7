import { describe, expect, test } from 'vitest'
import { restoredEntry } from '../../actors/account/core/state.js'
import { emptyState } from '../../actors/sub-wallet/core/state.js'
import { recordEvents } from '../../actors/sub-wallet/record.js'
import { eventData } from '../../src/api/event-data.js'
import { transactionView } from '../../src/api/transaction-view.js'
import type { EventId } from '../../src/domain/ids.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { createMemoryEnvironment } from './memory-environment.js'
import { ATTEMPT as attempt, transaction, WALLET_ID } from './wallet-fixtures.js'

const then = transaction(1, { status: 'broadcast', attempts: [attempt] })
const later: Transaction = {
  ...then,
  nonce: then.nonce + 1,
  status: 'confirmed',
  attempts: [attempt, { ...attempt, txHash: '0x04' }],
  spentMicros: 5n,
  mined: {
    ...{ txHash: '0x04', blockNumber: 9, blockHash: '0x05' },
    ...{ outcome: 'success', feeWei: 7n },
  },
  updatedAtMs: then.updatedAtMs + 1,
  confirmedAtMs: then.updatedAtMs + 1,
}

/** The event that a broadcast leaves, through the store, when `now` is the record of its transaction. */
async function broadcastEventData(now: Transaction) {
  const environment = createMemoryEnvironment()
  const state = emptyState(WALLET_ID)
  state.open.set(then.txId, restoredEntry(then, 'sent'))
  const batch = new WriteBatch()
  const { txId } = then
  const atMs = then.updatedAtMs
  recordEvents(batch, state, [{ type: 'transaction-broadcast', txId, blockNumber: 1, atMs }])
  batch.putTransaction(now)
  const places = attachEventSequence(createEventSequenceBuffer(), () => true)
  await localCommits(environment, places).commit(batch)
  const reader = createReader(environment)
  const event = reader.events.bySeq(then.userId, 1)
  if (event === undefined) throw new Error('the event is not in the log')
  return eventData(event, reader.transactions.byId)
}

describe('the data of an event', () => {
  test('shows a transaction as it was then, whatever happened to it since', async () => {
    const expected = transactionView(then, null)
    expect(await broadcastEventData(then)).toEqual(expected)
    expect(await broadcastEventData(later)).toEqual(expected)
  })

  test('is what an older version kept whole', () => {
    const data = { tx_id: 'tx_1', status: 'broadcast' }
    const event = { eventId: 'evt_1' as EventId, data }
    expect(eventData(event, () => undefined)).toEqual(data)
  })

  test('is never half of it: without its transaction there is none', () => {
    const { txId, nonce, status, spentMicros, mined, error, updatedAtMs, confirmedAtMs } = then
    const changed = { nonce, status, spentMicros, mined, error, updatedAtMs, confirmedAtMs }
    const moment = { txId, attemptCount: 1, ...changed }
    const event = { eventId: 'evt_1' as EventId, data: null, moment }
    expect(() => eventData(event, () => undefined)).toThrow(/not in the store/)
  })
})
