import { NATIVE_TOKEN } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import {
  type ChainFeeds,
  type ChainFeedsOptions,
  createChainFeeds,
  type FeedReading,
} from './chain-feeds.js'
import type { Price, PriceSource } from './price-source.js'

/** Prices from the Chainlink feeds of `chains.json`, over all chains. */
export interface ChainlinkPrices extends PriceSource {
  /** Handles a new block; feeds are read again once enough blocks have passed. */
  onHead(head: { readonly chainId: number; readonly number: number }): void
  /** The present state of each feed. */
  readings(): readonly (FeedReading & { readonly chainId: number })[]
  /** Reads every feed once, so that the first sends find a warm cache. Never rejects. */
  warm(): Promise<void>
}

const NO_FEED: Price = { unavailable: 'no-feed' }
const NATIVE_LOWER_CASE = NATIVE_TOKEN.toLowerCase()

export function createChainlinkPrices(chains: readonly ChainFeedsOptions[]): ChainlinkPrices {
  const feeds = new Map<number, ChainFeeds>(
    chains.map((options) => [options.chain.id, createChainFeeds(options)]),
  )
  return {
    price(chainId, token) {
      const chain = feeds.get(chainId)
      return chain === undefined ? NO_FEED : chain.price(keyOf(token))
    },
    onHead(head) {
      feeds.get(head.chainId)?.onHead(head.number)
    },
    readings: () =>
      [...feeds].flatMap(([chainId, chain]) =>
        chain.readings().map((reading) => ({ chainId, ...reading })),
      ),
    async warm() {
      await Promise.all([...feeds.values()].map((chain) => chain.refresh()))
    },
    close() {
      for (const chain of feeds.values()) chain.close()
      feeds.clear()
    },
  }
}

function keyOf(token: Address | 'native'): string {
  if (token === 'native') return token
  const key = token.toLowerCase()
  return key === NATIVE_LOWER_CASE ? 'native' : key
}
