import type { SharePriceSample } from '../../domain/share-price.js'
import type { Environment } from '../environment.js'

export interface MarketReader {
  /** Samples by chain id and vault, oldest first. */
  sharePrices(): Generator<readonly [string, readonly SharePriceSample[]]>
}

export function createMarketReader({ spaces }: Pick<Environment, 'spaces'>): MarketReader {
  return {
    *sharePrices() {
      for (const { key, value } of spaces.sharePrices.getSound({})) {
        yield [String(key), value as SharePriceSample[]]
      }
    },
  }
}
