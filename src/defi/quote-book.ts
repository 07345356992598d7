import { LRUCache } from 'lru-cache'
import type { Address, SubWalletId, UserId } from '../domain/ids.js'

/** A swap quote that its caller may execute as it is. */
export interface HeldQuote {
  readonly userId: UserId
  readonly subWalletId: SubWalletId
  readonly chainId: number
  readonly tokenIn: Address
  readonly tokenOut: Address
  readonly amountIn: bigint
  /** Smallest units; the least that the caller takes. */
  readonly minOut: bigint
}

/** Quotes by id, for as long as they are good. */
export interface QuoteBook {
  hold(quoteId: string, quote: HeldQuote): void
  /** Null when it has expired, or is another sub-wallet's. */
  take(quoteId: string, subWalletId: SubWalletId): HeldQuote | null
}

/** Prices move; a quote is an offer for so long. */
export const QUOTE_LIFETIME_MS = 60_000
const QUOTES_MAX = 20_000
/**
 * Of one user, whose oldest gives way: all keys of a user together ask for as many as they like, and
 * would push out what others are about to execute.
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
