import type { z } from 'zod'
import type { eventType } from '../api/console-webhooks.js'
import { WebhookVerificationError } from './errors.js'

/** Checks a delivery (Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`) with WebCrypto. */

export type EventType = z.infer<typeof eventType>

export interface WebhookEvent {
  /** The consumer's deduplication key, because the same event may be delivered more than once. */
  readonly eventId: string
  readonly type: EventType
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface WebhookDelivery {
  /**
   * The body as received, byte for byte; JSON that was parsed and serialized again does not verify.
   */
  readonly body: string
  /** `Headers`, or a plain object with lower-case names. */
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** `whsec_…`; several during a rotation. */
  readonly secret: string | readonly string[]
  /**
   * Allowed difference between the delivery's clock and this one. Default 300, as in the standard.
   */
  readonly toleranceSeconds?: number
  /** Wall clock, in milliseconds since the epoch. Defaults to the machine's. */
  readonly nowMs?: number
}

const TOLERANCE_SECONDS = 300
const SIGNATURES_MAX = 16
const SECRET_PREFIX = 'whsec_'

/** @throws WebhookVerificationError if the delivery is not genuine or too old */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const eventId = header(delivery, 'webhook-id')
  const timestamp = header(delivery, 'webhook-timestamp')
  const signatures = header(delivery, 'webhook-signature').split(' ').slice(0, SIGNATURES_MAX)
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('malformed timestamp')
  const ageSeconds = Math.abs((delivery.nowMs ?? Date.now()) / 1_000 - Number(timestamp))
  if (ageSeconds > (delivery.toleranceSeconds ?? TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError('the timestamp is out of tolerance')
  }
  const signed = new TextEncoder().encode(`${eventId}.${timestamp}.${delivery.body}`)
  const secrets = typeof delivery.secret === 'string' ? [delivery.secret] : delivery.secret
  for (const secret of secrets) {
    if (await matches(secret, signatures, signed)) return readEvent(eventId, delivery.body)
  }
  throw new WebhookVerificationError('no signature matches')
}

async function matches(
  secret: string,
  signatures: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  const bytes = fromBase64(encoded)
  if (bytes === null || bytes.length === 0) throw new WebhookVerificationError('malformed secret')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  for (const signature of signatures) {
    const mac = signature.startsWith('v1,') ? fromBase64(signature.slice('v1,'.length)) : null
    // The platform's verify compares in constant time.
    if (mac !== null && (await crypto.subtle.verify('HMAC', key, mac, signed))) return true
  }
  return false
}

function readEvent(eventId: string, body: string): WebhookEvent {
  try {
    const { type, timestamp, data } = JSON.parse(body) as Omit<WebhookEvent, 'eventId'>
    return { eventId, type, timestamp, data }
  } catch (cause) {
    throw new WebhookVerificationError('the body is not JSON', { cause })
  }
}

function header({ headers }: WebhookDelivery, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') {
    throw new WebhookVerificationError(`the header ${name} is missing`)
  }
  return value
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}
