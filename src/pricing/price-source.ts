import type { Address } from '../domain/ids.js'

/** The port through which spends are valued. `'native'` is the chain's own currency. */
export interface PriceSource {
  /**
   * USD price of one whole unit. Answers at once while the cache is warm; the write path asks per
   * send and takes a promise only after a start or an outage. Never rejects.
   */
  price(chainId: number, token: Address | 'native'): Price | Promise<Price>
  close(): void
}

export type Price = KnownPrice | UnavailablePrice

export interface KnownPrice {
  /** USD, scaled by 10^decimals; positive. */
  readonly value: bigint
  readonly decimals: number
  /** When the source last updated it, milliseconds since the epoch. */
  readonly updatedAtMs: number
  /** For evidence and logs, such as `chainlink:0x5f4e…`. */
  readonly source: string
}

export interface UnavailablePrice {
  readonly unavailable: PriceGap
}

/** Why there is no price; each of them means the outflow cannot be valued. */
export type PriceGap =
  | 'no-feed'
  | 'stale'
  | 'feed-unreachable'
  | 'feed-invalid'
  | 'implausible-move'
  | 'sequencer-down'
  | 'sequencer-recovering'
  /** The chain says other decimals of a token, or another currency of a feed, than `chains.json`. */
  | 'misconfigured'

export function isKnown(price: Price): price is KnownPrice {
  return 'value' in price
}
