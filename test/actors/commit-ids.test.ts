import { afterEach, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { NewEvent } from '../../src/domain/event.js'
import { ENTROPY_BYTES } from '../../src/domain/ids.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { openRealStore, type RealStore } from './real-store.js'
import { START_MS, USER_ID } from './wallet-fixtures.js'

const stores: RealStore[] = []
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())))

const EVENT: NewEvent = {
  ...{ eventId: null, userId: USER_ID, type: 'webhook.test', atMs: START_MS },
  ...{ subWalletId: null, laneKey: null, data: {} },
}
const ENTRY = auditEntry({ userId: USER_ID, atMs: START_MS, type: 'send.refused', details: {} })

/** What a commit names, with that randomness. */
async function namesOf(draw: () => Uint8Array): Promise<readonly string[]> {
  const store = await openRealStore()
  stores.push(store)
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true, draw)
  const batch = new WriteBatch()
  const other = new WriteBatch()
  batch.appendEvent(EVENT)
  batch.appendAudit(ENTRY)
  other.appendAudit(ENTRY)
  batch.absorb(other)
  const events = await localCommits(store.environment, sequence, draw).commit(batch)
  store.reader.fresh()
  const { items } = store.reader.audit.ofUser(USER_ID, { limit: 9, cursor: null }, () => true)
  expect(items).toHaveLength(2)
  return [...events, ...items].map((one) => ('eventId' in one ? one.eventId : one.auditId))
}

/** The same each time. */
function counted(): () => Uint8Array {
  let draws = 0
  return () => new Uint8Array(ENTROPY_BYTES).fill(++draws)
}

test('ids of events and of audit entries rest on the randomness that is handed in, and on no other', async () => {
  const names = await namesOf(counted())
  expect(await namesOf(counted())).toEqual(names)
  expect(new Set(names).size).toBe(3)
})

test('an id that was drawn stays as it is, however many are drawn after it', () => {
  const { random } = systemTimers(() => START_MS)
  const drawn = Array.from({ length: 2_000 }, () => random.bytes(ENTROPY_BYTES))
  const texts = drawn.map((bytes) => Buffer.from(bytes).toString('hex'))
  for (let n = 0; n < 2_000; n++) random.bytes(32)
  expect(drawn.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual(texts)
  expect(new Set(texts).size).toBe(texts.length)
  expect(random.bytes(5_000)).toHaveLength(5_000)
})
