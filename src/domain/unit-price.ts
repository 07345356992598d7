import { type UsdMicros, valueUsdMicros } from './money.js'

/** The price of one whole unit of a token: USD, scaled by 10^priceDecimals. */
export interface UnitPrice {
  readonly price: bigint
  readonly priceDecimals: number
  /** The token's decimals. */
  readonly decimals: number
}

/** @returns micro-USD, rounded up */
export function worthOf(amount: bigint, { price, priceDecimals, decimals }: UnitPrice): UsdMicros {
  return valueUsdMicros(amount, decimals, price, priceDecimals)
}
