import type { PriceSource } from '../pricing/price-source.js'

/** No feed of any chain is fresh. */
export const STALE_PRICES: PriceSource = {
  price: () => ({ unavailable: 'stale' }),
  close() {},
}
