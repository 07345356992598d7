import { describe, expect, it } from 'vitest'
import type { EventId } from '../../src/domain/ids.js'
import {
  generateWebhookSecret,
  isWebhookSecret,
  signDelivery,
} from '../../src/webhooks/signature.js'

describe('secrets', () => {
  it('are 32 random bytes, and never the same twice', () => {
    const secrets = Array.from({ length: 20 }, generateWebhookSecret)
    expect(secrets.every(isWebhookSecret)).toBe(true)
    expect(new Set(secrets).size).toBe(20)
  })

  it.each([
    ['too short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['without prefix', Buffer.alloc(32).toString('base64')],
    ['not base64', `whsec_${'!'.repeat(44)}`],
  ])('%s are none', (_title, secret) => {
    expect(isWebhookSecret(secret)).toBe(false)
  })
})

describe('signatures', () => {
  it('match the vector of the Standard Webhooks reference libraries', () => {
    const headers = signDelivery(
      'msg_p5jXN8AQM9LWM0D4loKWxJek' as EventId,
      1_614_265_330_000,
      '{"test": 2432232314}',
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    )
    expect(headers['webhook-timestamp']).toBe('1614265330')
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})
