import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { EventId } from '../domain/ids.js'

/** Standard Webhooks, "Signature scheme": between 24 and 64 random bytes, base64, prefixed. */
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64

export function generateWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export function isWebhookSecret(secret: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)) return false
  const bytes = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64').length
  return bytes >= SECRET_BYTES_MIN && bytes <= SECRET_BYTES_MAX
}

interface SignedHeaders {
  /**
   * The consumer's key for deduplication: the same for every attempt and redelivery of one event.
   */
  readonly 'webhook-id': EventId
  /** Unix seconds of this attempt; consumers refuse old ones. */
  readonly 'webhook-timestamp': string
  /** One `v1,` signature per secret, separated by spaces: any of them may verify. */
  readonly 'webhook-signature': string
}

/**
 * Signs one attempt (Standard Webhooks, symmetric `v1`: HMAC-SHA256 of `id.timestamp.body`).
 * @param secrets those in force now, newest first
 * @throws Error when there is no secret, or one is not base64
 */
export function signDelivery(
  eventId: EventId,
  atMs: number,
  body: string,
  secrets: readonly string[],
): SignedHeaders {
  if (secrets.length === 0) throw new Error('a delivery needs at least one secret')
  const at = new Date(atMs)
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(eventId, at, body))
      .join(' '),
  }
}
