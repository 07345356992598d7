import { describe, expect, test } from 'vitest'
import type { EventId } from '../../src/domain/ids.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { driveMany } from './drive-many.js'
import { ENDPOINT, EndpointDrive } from './endpoint-drive.js'

describe('a webhook endpoint, in whatever order things happen', () => {
  test('holds what a restart would load whenever its progress is saved', async () => {
    await driveMany(async (seed) => new EndpointDrive(seed))
  })

  test('leaves nothing behind that is removed in the commit that began a delivery', async () => {
    const { world } = new EndpointDrive(1)
    const nowMs = START_MS
    const eventId = 'evt_test_1' as EventId
    await world.together([
      { type: 'register', endpoint: ENDPOINT, secret: 'whsec_1', cursor: 0, nowMs },
      { type: 'test', eventId, nowMs },
      { type: 'remove', nowMs },
    ])
    const { webhookId } = ENDPOINT
    expect(world.reader.webhooks.byId(webhookId)).toBeUndefined()
    expect([...world.reader.deliveries.eventIds(webhookId, 10)]).toEqual([])
    expect(world.loaded().state).toBeNull()
  })
})
