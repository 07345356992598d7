import { LRUCache } from 'lru-cache'
import type { Address, LineageId, SubWalletId, UserId } from '../domain/ids.js'

/** A swap quote that its caller may execute as it is. */
export interface HeldQuote {
  readonly userId: UserId
  readonly subWalletId: SubWalletId
  /** The lineage of the key that requested it. */
  readonly lineageId: LineageId
  readonly chainId: number
  readonly tokenIn: Address
  readonly tokenOut: Address
  readonly amountIn: bigint
  /** The caller's minimum, in smallest units. */
  readonly minOut: bigint
  /** The caller's slippage, basis points; null when the caller gave none. */
  readonly slippageBps: number | null
}

/** Quotes by id, for as long as they are valid. */
export interface QuoteBook {
  hold(quoteId: string, quote: HeldQuote): void
  /** Null when it has expired, or belongs to another sub-wallet. */
  take(quoteId: string, subWalletId: SubWalletId): HeldQuote | null
}

/** Prices move, so a quote is valid only this long. */
export const QUOTE_LIFETIME_MS = 60_000
const QUOTES_MAX = 20_000
/**
 * The most quotes of one user; the oldest is dropped. A user's keys may request any number of
 * quotes, and would otherwise push out those that others are about to execute.
 */
const QUOTES_PER_USER_MAX = 1_000

export function createQuoteBook(): QuoteBook {
  const idsByUser = new Map<UserId, Set<string>>()
  const quotes = new LRUCache<string, HeldQuote>({
    max: QUOTES_MAX,
    ttl: QUOTE_LIFETIME_MS,
    dispose({ userId }, quoteId) {
      const ids = idsByUser.get(userId)
      ids?.delete(quoteId)
      if (ids?.size === 0) idsByUser.delete(userId)
    },
  })
  return {
    hold(quoteId, quote) {
      const [oldest] = idsByUser.get(quote.userId) ?? []
      const isFull = (idsByUser.get(quote.userId)?.size ?? 0) >= QUOTES_PER_USER_MAX
      if (isFull && oldest !== undefined) quotes.delete(oldest)
      quotes.set(quoteId, quote)
      idsByUser.set(quote.userId, (idsByUser.get(quote.userId) ?? new Set()).add(quoteId))
    },
    take(quoteId, subWalletId) {
      const quote = quotes.get(quoteId)
      return quote === undefined || quote.subWalletId !== subWalletId ? null : quote
    },
  }
}
