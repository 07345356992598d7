import { LRUCache } from 'lru-cache'
import type { Address, SubWalletId } from '../domain/ids.js'

/** A swap quote that its caller may execute as it is. */
export interface HeldQuote {
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

export function createQuoteBook(): QuoteBook {
  const quotes = new LRUCache<string, HeldQuote>({ max: QUOTES_MAX, ttl: QUOTE_LIFETIME_MS })
  return {
    hold(quoteId, quote) {
      quotes.set(quoteId, quote)
    },
    take(quoteId, subWalletId) {
      const quote = quotes.get(quoteId)
      return quote === undefined || quote.subWalletId !== subWalletId ? null : quote
    },
  }
}
