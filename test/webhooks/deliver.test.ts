import { Webhook } from 'standardwebhooks'
import type { Agent } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { IN_FLIGHT_MAX } from '../../actors/webhook-endpoint/core/state.js'
import type { EventId } from '../../src/domain/ids.js'
import {
  createDeliverer,
  DELIVERY_TIMEOUT_MS,
  type DeliveryOutcome,
} from '../../src/webhooks/deliver.js'
import { createGuardedAgent } from '../../src/webhooks/guarded-agent.js'
import { generateWebhookSecret } from '../../src/webhooks/signature.js'
import { type Answer, type Receiver, startReceiver, status } from './receiver.js'

const event = {
  eventId: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV' as EventId,
  body: '{"type":"transaction.confirmed","timestamp":"2026-01-02T03:04:05.678Z","data":{"é":"✓"}}',
}
const secret = generateWebhookSecret()
/** Of what is to come about: the machine may be busy for seconds. */
const PATIENT_MS = 30_000

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const resource of open.splice(0)) await resource.stop()
})

async function receiver(answer: Answer): Promise<Receiver> {
  const started = await startReceiver(answer)
  open.push(started)
  return started
}

function agent(): Agent {
  const made = createGuardedAgent({ targets: 'any' })
  open.push({ stop: () => made.destroy() })
  return made
}

function deliverTo(
  url: string,
  secrets = [secret],
  timeoutMs = PATIENT_MS,
): Promise<DeliveryOutcome> {
  return createDeliverer({ dispatcher: agent(), mailer: null, timeoutMs }).deliver(
    { kind: 'webhook', url, secrets },
    event,
  )
}

describe('one delivery', () => {
  it.each([
    [429, '120', 120_000],
    [503, 'soon', undefined],
    [503, undefined, undefined],
  ])('answered %d with Retry-After %s is tried again then', async (code, header, ms) => {
    const target = await receiver((response) => {
      response.writeHead(code, header === undefined ? {} : { 'retry-after': header }).end()
    })
    const outcome = await deliverTo(target.url)
    expect(outcome).toMatchObject({ kind: 'retry', status: code })
    expect(outcome.kind === 'retry' && outcome.retryAfterMs).toBe(ms)
  })

  it('carries a signature that the Standard Webhooks library accepts', async () => {
    const target = await receiver(status(204))
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'delivered', status: 204 })
    const [got] = target.received
    expect(got).toMatchObject({ method: 'POST', path: '/hook', body: event.body })
    expect(got?.headers['webhook-id']).toBe(event.eventId)
    expect(got?.headers['content-type']).toBe('application/json')
    const payload = new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})
    expect(payload).toEqual(JSON.parse(event.body))
  })

  it('verifies under the new and under the old secret while both are in force', async () => {
    const older = generateWebhookSecret()
    const target = await receiver(status(200))
    await deliverTo(target.url, [secret, older])
    const { body = '', headers = {} } = target.received[0] ?? {}
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
    expect(() => new Webhook(older).verify(body, headers)).not.toThrow()
    expect(() => new Webhook(generateWebhookSecret()).verify(body, headers)).toThrow()
  })

  it('is to be tried again after a 500, and is delivered by the third try', async () => {
    const target = await receiver((response, index) => {
      response.writeHead(index < 2 ? 500 : 200).end('x')
    })
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'retry', status: 500 })
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'retry', status: 500 })
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'delivered', status: 200 })
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('reports 410 as gone', async () => {
    const target = await receiver(status(410))
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'gone', status: 410 })
  })

  it('follows no redirect', async () => {
    const elsewhere = await receiver(status(200))
    const target = await receiver((response) => {
      response.writeHead(307, { location: elsewhere.url }).end()
    })
    const outcome = await deliverTo(target.url)
    expect(outcome).toMatchObject({
      kind: 'retry',
      status: 307,
      error: 'redirects are not followed',
    })
    expect(elsewhere.received).toHaveLength(0)
  })

  it('gives up on a receiver that never answers', async () => {
    const target = await receiver(() => undefined)
    const outcome = await deliverTo(target.url, [secret], 200)
    expect(outcome).toMatchObject({ kind: 'retry', status: null, error: 'no response in time' })
    expect(outcome.durationMs).toBeLessThan(DELIVERY_TIMEOUT_MS)
  })

  it('is not held up by others of the same host that hang', async () => {
    const target = await receiver((response, _index, { url }) => {
      if (url === '/hook') response.writeHead(200).end()
    })
    const dispatcher = agent()
    const to = (url: string) =>
      createDeliverer({ dispatcher, mailer: null, timeoutMs: PATIENT_MS }).deliver(
        { kind: 'webhook', url, secrets: [secret] },
        event,
      )
    let over = 0
    const hanging = Array.from({ length: 2 * IN_FLIGHT_MAX }, () =>
      to(`${target.url}/hanging`).finally(() => over++),
    )
    expect(await to(target.url)).toMatchObject({ kind: 'delivered' })
    expect(over).toBe(0)
    await expect.poll(() => target.received).toHaveLength(hanging.length + 1)
    await target.stop()
    for (const outcome of await Promise.all(hanging)) {
      expect(outcome).toMatchObject({ error: 'connection closed before a response' })
    }
  })

  it('counts an answer whose body never ends', async () => {
    const target = await receiver((response) => {
      response.writeHead(200)
      response.write('x')
    })
    // Each has to end by its time-out, before which a busy machine may not get as far as the answer.
    await expect
      .poll(() => deliverTo(target.url, [secret], 300))
      .toMatchObject({ kind: 'delivered' })
  })

  it('reads no more than a little of a huge answer', async () => {
    let written = 0
    const target = await receiver((response) => {
      response.writeHead(200)
      const timer = setInterval(() => {
        written += 65_536
        if (!response.destroyed) response.write(Buffer.alloc(65_536))
      }, 1)
      response.on('close', () => clearInterval(timer))
    })
    expect(await deliverTo(target.url)).toMatchObject({ kind: 'delivered' })
    expect(written).toBeLessThan(64 * 65_536)
  })

  it('says that the connection was refused, without naming the address', async () => {
    const target = await receiver(status(200))
    await target.stop()
    open.length = 0
    const outcome = await deliverTo(target.url)
    expect(outcome).toMatchObject({ kind: 'retry', status: null, error: 'connection refused' })
  })

  it('says so when the receiver hangs up or speaks something else', async () => {
    const rude = await receiver((_response, _index, request) => request.socket.destroy())
    expect(await deliverTo(rude.url)).toMatchObject({
      error: 'connection closed before a response',
    })
    const strange = await receiver((_response, _index, request) => {
      request.socket.end('SSH-2.0-OpenSSH_9.6\r\n')
    })
    expect(await deliverTo(strange.url)).toMatchObject({ error: 'the response is not HTTP' })
  })
})
