import type { ApiKey } from '../../domain/api-key.js'
import type { StoredEvent } from '../../domain/event.js'
import type { EventId, KeyId, SubWalletId, UserId, WebhookId } from '../../domain/ids.js'
import type { SubWallet } from '../../domain/wallet.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { Reader } from '../../store/reader.js'

/** Users see and change only what they own; anything else is not found. */
export function ownedWallet(reader: Reader, userId: UserId, id: string): Result<SubWallet> {
  const wallet = reader.wallets.byId(id as SubWalletId)
  return wallet?.userId === userId ? ok(wallet) : refuse(fault('NOT_FOUND', { sub_wallet_id: id }))
}

export function ownedKey(reader: Reader, userId: UserId, id: string): Result<ApiKey> {
  const key = reader.keys.byId(id as KeyId)
  return key?.userId === userId ? ok(key) : refuse(fault('NOT_FOUND', { key_id: id }))
}

export function ownedWebhook(reader: Reader, userId: UserId, id: string): Result<WebhookEndpoint> {
  const endpoint = reader.webhooks.byId(id as WebhookId)
  return endpoint?.userId === userId ? ok(endpoint) : refuse(fault('NOT_FOUND', { webhook_id: id }))
}

export function ownedEvent(reader: Reader, userId: UserId, id: string): Result<StoredEvent> {
  const event = reader.events.byId(userId, id as EventId)
  return event !== undefined ? ok(event) : refuse(fault('NOT_FOUND', { event_id: id }))
}
