import type { EventType } from './event-types.js'
import type { UserId, WebhookId } from './ids.js'

/** The reader of a channel: a program, or people through the named service. */
export type ChatKind = 'slack' | 'telegram' | 'ntfy'
type AlertKind = ChatKind | 'email'
export type EndpointKind = 'webhook' | AlertKind

/**
 * A registered webhook endpoint, or a channel for people. Secrets are kept apart from what lists
 * show.
 */
export interface WebhookEndpoint {
  readonly webhookId: WebhookId
  readonly userId: UserId
  readonly kind: EndpointKind
  /** The URL; a channel for people omits its secret part. */
  readonly url: string
  /** Null means DEFAULT_EVENT_TYPES. */
  readonly events: readonly EventType[] | null
  readonly description: string | null
  readonly status: 'enabled' | 'disabled'
  readonly createdAtMs: number
  /**
   * Newest first; an older secret also signs until it expires. Each is sealed for this endpoint.
   * For a channel for people it is the secret that identifies the channel to its service.
   */
  readonly secrets: readonly { readonly sealed: string; readonly expiresAtMs: number | null }[]
}
