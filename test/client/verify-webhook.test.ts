import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { WebhookVerificationError } from '../../src/client/errors.js'
import { verifyWebhook } from '../../src/client/verify-webhook.js'

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another secret, another secret..').toString('base64')}`
const body = JSON.stringify({
  type: 'transaction.confirmed',
  timestamp: '2026-11-20T09:30:00.000Z',
  data: { tx_id: 'tx_1', note: 'é\u2028' },
})

function delivery(over: { secret?: string; at?: Date; id?: string } = {}) {
  const { secret = SECRET, at = new Date(), id = 'evt_1' } = over
  return {
    body,
    secret: SECRET,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
  }
}

describe('verifyWebhook', () => {
  it('takes what the reference implementation signs', async () => {
    const event = await verifyWebhook(delivery())
    expect(event).toMatchObject({
      eventId: 'evt_1',
      type: 'transaction.confirmed',
      data: { tx_id: 'tx_1' },
    })
  })

  it('takes the vector of the standard', async () => {
    const event = await verifyWebhook({
      body: '{"test": 2432232314}',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      nowMs: 1_614_265_330_000,
      headers: new Headers({
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      }),
    })
    expect(event.eventId).toBe('msg_p5jXN8AQM9LWM0D4loKWxJek')
  })

  it('takes either secret while a rotation is under way, and either of two signatures', async () => {
    const old = delivery({ secret: OTHER })
    await expect(verifyWebhook({ ...old, secret: [SECRET, OTHER] })).resolves.toBeDefined()
    const both = delivery()
    const headers = {
      ...both.headers,
      'webhook-signature': `${old.headers['webhook-signature']} ${both.headers['webhook-signature']}`,
    }
    await expect(verifyWebhook({ ...both, headers })).resolves.toBeDefined()
  })

  it.each([
    ['another secret', () => delivery({ secret: OTHER })],
    ['a body that was changed', () => ({ ...delivery(), body: body.replace('tx_1', 'tx_2') })],
    ['an old delivery', () => delivery({ at: new Date(Date.now() - 301_000) })],
    ['a delivery of the future', () => delivery({ at: new Date(Date.now() + 301_000) })],
    [
      'another id',
      () => ({ ...delivery(), headers: { ...delivery().headers, 'webhook-id': 'evt_2' } }),
    ],
    ['no headers', () => ({ ...delivery(), headers: {} })],
    [
      'garbage',
      () => ({
        ...delivery(),
        headers: { ...delivery().headers, 'webhook-signature': 'v1,%%% x' },
      }),
    ],
  ])('refuses %s', async (_what, make) => {
    await expect(verifyWebhook(make())).rejects.toBeInstanceOf(WebhookVerificationError)
  })
})
