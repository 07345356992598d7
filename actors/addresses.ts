import type { SubWalletId, UserId, WebhookId } from '../src/domain/ids.js'

/** The address of the sub-wallet that a key or a transaction belongs to. */
export function subWalletAddress(of: {
  readonly subWalletId: SubWalletId
  readonly userId: UserId
}) {
  return { kind: 'sub-wallet', id: of.subWalletId, userId: of.userId } as const
}

export function webhookEndpointAddress(of: {
  readonly webhookId: WebhookId
  readonly userId: UserId
}) {
  return { kind: 'webhook-endpoint', id: of.webhookId, userId: of.userId } as const
}

export function freezesAddress(userId: UserId) {
  return { kind: 'freezes', id: userId, userId } as const
}

export function userBreakersAddress(userId: UserId) {
  return { kind: 'user-breakers', id: userId, userId } as const
}

/** The actor that makes wallet keys and grants. */
export const CUSTODY_ADDRESS = { kind: 'custody', id: 'custody', userId: null } as const

/** The actor that records when keys were last used. */
export const KEY_USE_ADDRESS = { kind: 'key-use', id: 'key-use', userId: null } as const

/** The actor that records what vaults' shares were worth. */
export const SHARE_PRICES_ADDRESS = {
  kind: 'share-prices',
  id: 'share-prices',
  userId: null,
} as const
