import { type Dispatcher, request } from 'undici'
import type { EventId } from '../domain/ids.js'
import type { ChatKind, EndpointKind } from '../domain/webhook.js'
import { type AlertRequest, alertOf, alertRequest, mailAddressOf } from './alert-request.js'
import { explainDeliveryError, MailOffError } from './delivery-error.js'
import type { Mailer } from './mailer.js'
import { readRetryAfterMs } from './retry-after.js'
import { signDelivery } from './signature.js'

/** CONTRACT.md, "Events and webhooks": from connecting to the response's headers. */
export const DELIVERY_TIMEOUT_MS = 10_000
/** Read and discarded so that the connection can be reused; a longer body closes it. */
const RESPONSE_BODY_BYTES_MAX = 1_024

interface DeliveryTarget {
  readonly kind: EndpointKind
  readonly url: string
  /** The secrets in force now, newest first. */
  readonly secrets: readonly string[]
}

export interface DeliveryEvent {
  readonly eventId: EventId
  /** JSON, exactly as it is signed and sent. */
  readonly body: string
}

/**
 * How one attempt ended. `status` is null when no response came; `error` is one short sentence
 * for the endpoint's owner, never content of the response.
 */
export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly status: number; readonly durationMs: number }
  | {
      readonly kind: 'retry'
      readonly status: number | null
      readonly error: string
      readonly durationMs: number
      /**
       * The pause that the receiver requested with `Retry-After`; absent when it requested none.
       */
      readonly retryAfterMs?: number
    }
  /** 410: the receiver wants no more deliveries. */
  | { readonly kind: 'gone'; readonly status: 410; readonly durationMs: number }

export interface Deliverer {
  /** Makes one attempt; never rejects. */
  deliver(target: DeliveryTarget, event: DeliveryEvent): Promise<DeliveryOutcome>
}

interface DelivererOptions {
  /** A guarded agent, owned and closed by the caller. */
  readonly dispatcher: Dispatcher
  /** Null when there is no mail server: channels of the kind `email` are then not notified. */
  readonly mailer: Mailer | null
  /** Default DELIVERY_TIMEOUT_MS. */
  readonly timeoutMs?: number
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const timeoutMs = options.timeoutMs ?? DELIVERY_TIMEOUT_MS
  return {
    async deliver(target, event) {
      const startedAt = performance.now()
      const elapsedMs = () => Math.round(performance.now() - startedAt)
      try {
        const { kind } = target
        const { status, retryAfter } =
          kind === 'email'
            ? { status: await mail(options.mailer, target, event, timeoutMs), retryAfter: null }
            : await post(options.dispatcher, { ...target, kind }, event, timeoutMs)
        if (status >= 200 && status < 300) {
          return { kind: 'delivered', status, durationMs: elapsedMs() }
        }
        if (status === 410) return { kind: 'gone', status, durationMs: elapsedMs() }
        const error =
          status >= 300 && status < 400 ? 'redirects are not followed' : `answered ${status}`
        const retryAfterMs = readRetryAfterMs(retryAfter, Date.now())
        const asked = retryAfterMs === null ? {} : { retryAfterMs }
        return { kind: 'retry', status, error, durationMs: elapsedMs(), ...asked }
      } catch (error) {
        return {
          kind: 'retry',
          status: null,
          error: explainDeliveryError(error),
          durationMs: elapsedMs(),
        }
      }
    },
  }
}

/**
 * @returns the server's reply code
 * @throws the error that prevented the server from accepting the mail
 */
async function mail(
  mailer: Mailer | null,
  { secrets: [secret] }: DeliveryTarget,
  { eventId, body }: DeliveryEvent,
  timeoutMs: number,
): Promise<number> {
  if (mailer === null || secret === undefined) throw new MailOffError()
  return mailer.send(mailAddressOf(secret), eventId, alertOf(body), timeoutMs)
}

interface HttpTarget extends DeliveryTarget {
  readonly kind: 'webhook' | ChatKind
}

function requestOf({ kind, url, secrets }: HttpTarget, event: DeliveryEvent): AlertRequest {
  const { eventId, body } = event
  if (kind === 'webhook') {
    const signed = signDelivery(eventId, Date.now(), body, secrets)
    return { url, headers: { 'content-type': 'application/json', ...signed }, body }
  }
  const [secret] = secrets
  if (secret === undefined) throw new Error('the channel has no secret')
  return alertRequest(kind, url, secret, body)
}

interface HttpAnswer {
  readonly status: number
  /** The header as received; null when it is absent, or came twice. */
  readonly retryAfter: string | null
}

/** @throws the error that prevented a response */
async function post(
  dispatcher: Dispatcher,
  target: HttpTarget,
  event: DeliveryEvent,
  timeoutMs: number,
): Promise<HttpAnswer> {
  const { url, headers, body } = requestOf(target, event)
  const response = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'user-agent': 'Countersign-Webhooks/1', ...headers },
    body,
    signal: AbortSignal.timeout(timeoutMs),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  // The response counts once its headers are here; a body that stalls or breaks changes nothing.
  await response.body.dump({ limit: RESPONSE_BODY_BYTES_MAX }).catch(() => undefined)
  const retryAfter = response.headers['retry-after']
  return {
    status: response.statusCode,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
  }
}
