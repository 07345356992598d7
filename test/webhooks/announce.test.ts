import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Envelope } from '../../actors/runtime/actor.js'
import { createAnnouncer } from '../../actors/webhook-endpoint/announce.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { StoredEvent } from '../../src/domain/event.js'
import { type EventId, ID_PREFIX, type UserId, type WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import { openEnvironment } from '../../src/store/environment.js'
import { localCommits } from '../../src/store/local-commits.js'
import { newId } from '../../src/store/new-id.js'
import { createVersionsBuffer } from '../../src/store/versions.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { Writer } from '../../src/store/writer.js'
import { openRealStore, type RealStore } from '../actors/real-store.js'

const USER = 'user_00000000000000000000000001' as UserId
const endpoint: WebhookEndpoint = {
  webhookId: newId<WebhookId>(ID_PREFIX.webhook, systemTimers()),
  userId: USER,
  url: 'https://example.test/hook',
  events: null,
  kind: 'webhook',
  description: null,
  status: 'enabled',
  createdAtMs: 1,
  secrets: [],
}

let store: RealStore
const versions = createVersionsBuffer()
beforeEach(async () => {
  store = await openRealStore(versions)
})
afterEach(() => store.close())

/** Commits as another thread does, through an environment of its own. */
async function elsewhere(fill: (writer: Writer) => void): Promise<void> {
  const environment = openEnvironment(store.directory, versions)
  const batch = new WriteBatch()
  fill(batch)
  await localCommits(environment, store.sequence).commit(batch)
  await environment.root.close()
}

test('endpoints are notified from the moment they are stored, and no longer once they are gone', async () => {
  const told: Envelope[] = []
  const announce = createAnnouncer({
    ...{ reader: store.reader, sequence: store.sequence },
    tell: (envelope) => told.push(envelope),
    timers: systemTimers(() => 1),
  })
  const say = (type: StoredEvent['type']) => {
    const event = { eventId: 'evt_1' as EventId, userId: USER, type, atMs: 1, seq: 0 }
    told.length = 0
    announce([{ ...event, subWalletId: null, laneKey: null, data: {} }])
    return told.map(({ id }) => id)
  }
  expect(say('transaction.confirmed')).toEqual([])
  await elsewhere((writer) => writer.putWebhook(endpoint))
  expect(say('transaction.confirmed')).toEqual([endpoint.webhookId])
  expect(say('key.rotated')).toEqual([])
  await elsewhere((writer) => writer.putWebhook({ ...endpoint, events: ['key.rotated'] }))
  expect(say('key.rotated')).toEqual([endpoint.webhookId])
  expect(say('transaction.confirmed')).toEqual([])
  await elsewhere((writer) => writer.deleteWebhook(endpoint.webhookId, USER))
  expect(say('key.rotated')).toEqual([])
})
