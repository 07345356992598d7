import type { Address } from '../domain/ids.js'

/** The port through which spends are valued. `'native'` is the chain's own currency. */
export interface PriceSource {
  /**
   * The USD price of one whole unit. It answers at once while the cache is warm; the write path
   * calls it for each send and gets a promise only after a start or an outage. Never rejects.
   */
  price(chainId: number, token: Address | 'native'): Price | Promise<Price>
  close(): void
}

export type Price = KnownPrice | UnavailablePrice

interface KnownPrice {
  /** USD, scaled by 10^decimals; positive. */
  readonly value: bigint
  readonly decimals: number
  /** When the source last updated it, milliseconds since the Unix epoch. */
  readonly updatedAtMs: number
  /** The source's name for evidence and logs, for example `chainlink:0x5f4e…`. */
  readonly source: string
}

interface UnavailablePrice {
  readonly unavailable: PriceGap
}

/** Why there is no price; in each case the outflow cannot be valued. */
export type PriceGap =
  | 'no-feed'
  | 'stale'
  | 'feed-unreachable'
  | 'feed-invalid'
  | 'implausible-move'
  | 'sequencer-down'
  | 'sequencer-recovering'
  /**
   * The chain reports other decimals of a token, or another currency of a feed, than `chains.json`.
   */
  | 'misconfigured'

export function isKnown(price: Price): price is KnownPrice {
  return 'value' in price
}
