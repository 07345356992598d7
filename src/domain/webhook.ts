import type { EventType } from './event.js'
import type { UserId, WebhookId } from './ids.js'

/** Who reads it: a program, or people by the service that is named. */
export type ChatKind = 'slack' | 'telegram' | 'ntfy'
export type AlertKind = ChatKind | 'email'
export type EndpointKind = 'webhook' | AlertKind

/** A registered webhook endpoint, or a channel for people. Secrets are kept apart from what lists show. */
export interface WebhookEndpoint {
  readonly webhookId: WebhookId
  readonly userId: UserId
  readonly kind: EndpointKind
  /** Of a channel for people without what is secret in it. */
  readonly url: string
  /** null: DEFAULT_EVENT_TYPES. */
  readonly events: readonly EventType[] | null
  readonly description: string | null
  readonly status: 'enabled' | 'disabled'
  readonly createdAtMs: number
  /**
   * Newest first; an older one signs along until it expires. Sealed for this endpoint alone. Of a
   * channel for people the one that names it there.
   */
  readonly secrets: readonly { readonly sealed: string; readonly expiresAtMs: number | null }[]
}
