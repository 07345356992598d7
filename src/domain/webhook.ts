import type { EventType } from './event.js'
import type { UserId, WebhookId } from './ids.js'

/** A registered webhook endpoint. Secrets are kept apart from what lists show. */
export interface WebhookEndpoint {
  readonly webhookId: WebhookId
  readonly userId: UserId
  readonly url: string
  /** null: DEFAULT_EVENT_TYPES. */
  readonly events: readonly EventType[] | null
  readonly description: string | null
  readonly status: 'enabled' | 'disabled'
  readonly createdAtMs: number
  /** Newest first; an older one signs along until it expires. Sealed for this endpoint alone. */
  readonly secrets: readonly { readonly sealed: string; readonly expiresAtMs: number | null }[]
}
