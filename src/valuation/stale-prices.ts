import type { PriceSource } from '../pricing/price-source.js'

/** A price source in which every feed is stale. */
export const STALE_PRICES: PriceSource = {
  price: () => ({ unavailable: 'stale' }),
  close() {},
}
