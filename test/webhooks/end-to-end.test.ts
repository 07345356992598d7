import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { NewEvent } from '../../src/domain/event.js'
import {
  type EventId,
  ID_PREFIX,
  type SubWalletId,
  type UserId,
  type WebhookId,
} from '../../src/domain/ids.js'
import { newId } from '../../src/store/new-id.js'
import { generateWebhookSecret } from '../../src/webhooks/signature.js'
import { type DeliveryHost, type HostedEndpoint, startDeliveryHost } from './delivery-host.js'
import { type Answer, type Received, type Receiver, startReceiver, status } from './receiver.js'

const SECRET = generateWebhookSecret()
const LANES_PER_USER = 4
const BATCH = 50
const TEST_TIMEOUT_MS = 360_000
const WAIT = { timeout: 300_000, interval: 100 }

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function storeDirectory(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'cs-webhooks-'))
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function startHost(directory: string): Promise<DeliveryHost> {
  const host = await startDeliveryHost(directory)
  cleanups.push(() => host.kill())
  return host
}

async function receiver(answer: Answer): Promise<Receiver> {
  const started = await startReceiver(answer)
  cleanups.push(() => started.stop())
  return started
}

/** An address at which nothing listens. */
async function refusingUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/hook`
}

function endpointFor(userId: UserId, url: string): HostedEndpoint['endpoint'] {
  return {
    webhookId: newId<WebhookId>(ID_PREFIX.webhook, systemTimers()),
    userId,
    url,
    events: null,
    kind: 'webhook',
    description: null,
    status: 'enabled',
    createdAtMs: Date.now(),
  }
}

/** Events of one user, dealt out to lanes; `place` counts within the lane. */
function eventsOf(userId: UserId, count: number): (NewEvent & { readonly eventId: EventId })[] {
  return Array.from({ length: count }, (_, i) => {
    const lane = i % LANES_PER_USER
    return {
      eventId: newId<EventId>(ID_PREFIX.event, systemTimers()),
      userId,
      type: 'transaction.confirmed',
      atMs: Date.now(),
      subWalletId: newId<SubWalletId>(ID_PREFIX.subWallet, systemTimers()),
      laneKey: `${userId}:${lane}`,
      data: { lane, place: Math.floor(i / LANES_PER_USER) },
    }
  })
}

function idsOf(requests: readonly Received[]): Set<string> {
  return new Set(requests.map(({ headers }) => headers['webhook-id'] ?? ''))
}

/** Each lane's events came in order, repetitions aside. */
function expectLaneOrder(requests: readonly Received[]): void {
  const next = new Map<number, number>()
  const seen = new Set<string>()
  for (const { headers, body } of requests) {
    const id = headers['webhook-id'] ?? ''
    if (seen.has(id)) continue
    seen.add(id)
    const { lane, place } = (JSON.parse(body) as { data: { lane: number; place: number } }).data
    const expected = next.get(lane) ?? 0
    if (place !== expected) throw new Error(`lane ${lane}: ${place} came before ${expected}`)
    next.set(lane, expected + 1)
  }
}

function expectSigned(requests: readonly Received[]): void {
  const verifiers = [new StandardWebhook(SECRET), new SvixWebhook(SECRET)]
  for (const { headers, body } of requests) {
    // Both throw on a signature that is not theirs.
    for (const verifier of verifiers) verifier.verify(body, headers)
  }
}

describe('ten thousand events to twenty endpoints', () => {
  test(
    'reach every endpoint that answers, in order and signed, whatever the others do',
    async () => {
      const host = await startHost(await storeDirectory())
      const hang: Answer = () => undefined
      const redirect: Answer = (response) =>
        response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
      const flaky: Answer = (response, index) => response.writeHead(index < 2 ? 500 : 200).end()
      const slow: Answer = (response) => setTimeout(() => response.writeHead(200).end(), 20)
      const seconds = [hang, hang, redirect, redirect, flaky, flaky, slow, status(204)]
      const users = Array.from({ length: 10 }, (_, i) => `user-${i}` as UserId)

      const answering: { endpoint: HostedEndpoint['endpoint']; at: Receiver; ordered: boolean }[] =
        []
      const failing: { endpoint: HostedEndpoint['endpoint']; at: Receiver | null }[] = []
      for (const [i, userId] of users.entries()) {
        const first = await receiver(status(200))
        answering.push({ endpoint: endpointFor(userId, first.url), at: first, ordered: true })
        const answer = seconds[i]
        const second = answer === undefined ? null : await receiver(answer)
        const endpoint = endpointFor(userId, second?.url ?? (await refusingUrl()))
        if (second === null || answer === hang || answer === redirect) {
          failing.push({ endpoint, at: second })
        } else answering.push({ endpoint, at: second, ordered: answer !== flaky })
      }
      for (const { endpoint } of [...answering, ...failing])
        await host.register({ endpoint, secret: SECRET })

      const events = new Map(users.map((userId) => [userId, eventsOf(userId, 1_000)]))
      for (let at = 0; at < 1_000; at += BATCH) {
        await Promise.all([...events.values()].map((all) => host.append(all.slice(at, at + BATCH))))
      }
      await vi.waitFor(() => {
        for (const { endpoint, at } of answering) {
          const wanted = events.get(endpoint.userId)?.length
          expect(idsOf(at.received).size, endpoint.url).toBe(wanted)
        }
      }, WAIT)
      for (const { endpoint, at, ordered } of answering) {
        const wanted = new Set<string>(events.get(endpoint.userId)?.map(({ eventId }) => eventId))
        expect(idsOf(at.received)).toEqual(wanted)
        if (ordered) expectLaneOrder(at.received)
        expectSigned(at.received)
      }
      for (const { endpoint } of failing) {
        const records = await host.deliveries(endpoint.webhookId)
        expect(records.length).toBeGreaterThan(0)
        expect(records.every((record) => record.status === 'pending')).toBe(true)
      }
    },
    TEST_TIMEOUT_MS,
  )
})

describe('a process that is killed', () => {
  test(
    'while a receiver takes its time has the next one try once more, and no more',
    async () => {
      const directory = await storeDirectory()
      const userId = 'user-1' as UserId
      const at = await receiver((response, index) => {
        if (index > 0) response.writeHead(200).end()
      })
      const endpoint = endpointFor(userId, at.url)
      const host = await startHost(directory)
      await host.register({ endpoint, secret: SECRET })
      await host.append(eventsOf(userId, 1))
      await vi.waitFor(async () => {
        expect(await host.deliveries(endpoint.webhookId)).toMatchObject([{ attemptCount: 1 }])
      }, WAIT)
      await vi.waitFor(() => expect(at.received).toHaveLength(1), WAIT)
      await host.kill()
      const next = await startHost(directory)
      await vi.waitFor(async () => {
        expect(await next.deliveries(endpoint.webhookId)).toMatchObject([{ status: 'delivered' }])
      }, WAIT)
      expect(await next.deliveries(endpoint.webhookId)).toMatchObject([{ attemptCount: 2 }])
      expect(at.received).toHaveLength(2)
    },
    TEST_TIMEOUT_MS,
  )

  test(
    'in the midst of appending and delivering loses no event and breaks no order',
    async () => {
      const directory = await storeDirectory()
      const userId = 'user-1' as UserId
      const at = await receiver(status(200))
      const endpoint = endpointFor(userId, at.url)
      let host = await startHost(directory)
      await host.register({ endpoint, secret: SECRET })
      const events = eventsOf(userId, 2_000)
      let appended = 0
      for (let kills = 0; kills < 4; kills++) {
        const killer = host
        setTimeout(() => void killer.kill(), 150 + 130 * kills)
        try {
          while (appended < events.length) {
            await host.append(events.slice(appended, appended + BATCH))
            appended += BATCH
          }
        } catch {
          // Killed while it appended: whether the batch is in the log is asked below.
        }
        await host.kill()
        host = await startHost(directory)
        const log = await host.log(userId)
        // All that was acknowledged is there; an unacknowledged batch is there whole or not at all.
        expect(log.length).toBeGreaterThanOrEqual(appended)
        expect(log.length % BATCH).toBe(0)
        appended = log.length
      }
      for (; appended < events.length; appended += BATCH) {
        await host.append(events.slice(appended, appended + BATCH))
      }
      await vi.waitFor(() => expect(idsOf(at.received).size).toBe(events.length), WAIT)
      expect(idsOf(at.received)).toEqual(new Set<string>(events.map(({ eventId }) => eventId)))
      expectLaneOrder(at.received)
      expectSigned(at.received)
    },
    TEST_TIMEOUT_MS,
  )
})
