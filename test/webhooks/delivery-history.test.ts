import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeliveryRecord } from '../../actors/webhook-endpoint/core/delivery-record.js'
import type { EndpointEvent } from '../../actors/webhook-endpoint/core/events.js'
import {
  DELIVERY_RECORDS_MAX,
  DeliveryHistory,
} from '../../actors/webhook-endpoint/delivery-history.js'
import { type EventId, ID_PREFIX, ulidBody, type WebhookId } from '../../src/domain/ids.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'

const webhookId = 'we_1' as WebhookId
const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
let directory: string
let environment: Environment
let reader: Reader

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-history-'))
  environment = openEnvironment(directory)
  reader = createReader(environment)
})

afterEach(async () => {
  await environment.root.close()
  rmSync(directory, { recursive: true, force: true })
})

const eventId = (n: number) => (ID_PREFIX.event + ulidBody(n, new Uint8Array(10))) as EventId

function delivery(n: number, result: 'delivered' | 'retry'): EndpointEvent[] {
  const id = eventId(n)
  const at = { eventId: id, atMs: n }
  return [
    {
      type: 'log-taken',
      queued: [{ eventId: id, seq: n, laneKey: null }],
      cursor: n,
      behind: false,
      feed: 'idle',
      atMs: n,
    },
    { type: 'attempt-started', attemptId: n, ...at },
    {
      type: 'attempt-finished',
      attemptId: n,
      result,
      status: 200,
      error: null,
      durationMs: 1,
      nextTryAtMs: result === 'retry' ? n + 5_000 : null,
      ...at,
    },
  ]
}

async function save(history: DeliveryHistory): Promise<void> {
  const batch = new WriteBatch()
  history.save(batch)
  await localCommits(environment, sequence).commit(batch)
  reader.fresh()
}

function stored(): readonly DeliveryRecord[] {
  return reader.deliveries.ofWebhook<DeliveryRecord>(webhookId, { limit: 5_000, cursor: null })
    .items
}

test('old deliveries are forgotten, unfinished ones and the newest never', async () => {
  const history = new DeliveryHistory(reader, webhookId)
  const total = 3 * DELIVERY_RECORDS_MAX
  for (let n = 1; n <= total; n++) {
    history.fold(delivery(n, n % 100 === 0 ? 'retry' : 'delivered'))
    if (n % 20 === 0) await save(history)
  }
  const records = stored()
  expect(records.length).toBeGreaterThanOrEqual(DELIVERY_RECORDS_MAX)
  expect(records.length).toBeLessThan(1.2 * DELIVERY_RECORDS_MAX)
  expect(records.slice(0, 900).map((record) => record.eventId)).toEqual(
    Array.from({ length: 900 }, (_, i) => eventId(total - i)),
  )
  expect(records.filter(({ status }) => status === 'pending')).toHaveLength(total / 100)
})

test('a history goes on after a restart', async () => {
  const before = new DeliveryHistory(reader, webhookId)
  before.fold(delivery(1, 'retry'))
  await save(before)
  const after = new DeliveryHistory(reader, webhookId)
  after.fold(delivery(1, 'delivered').slice(1))
  await save(after)
  expect(stored()).toMatchObject([{ status: 'delivered', attemptCount: 2, createdAtMs: 1 }])
})

test('nothing of a removed endpoint stays', async () => {
  const history = new DeliveryHistory(reader, webhookId)
  for (let n = 1; n <= 50; n++) history.fold(delivery(n, 'delivered'))
  await save(history)
  const batch = new WriteBatch()
  history.removeAll(batch)
  await localCommits(environment, sequence).commit(batch)
  reader.fresh()
  expect(stored()).toEqual([])
})
