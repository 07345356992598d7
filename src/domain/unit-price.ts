import { type UsdMicros, valueUsdMicros } from './money.js'

/** What one whole unit of a token is worth: USD, scaled by 10^priceDecimals. */
export interface UnitPrice {
  readonly price: bigint
  readonly priceDecimals: number
  /** Of the token's amounts. */
  readonly decimals: number
}

/** @returns micro-USD, rounded up */
export function worthOf(amount: bigint, { price, priceDecimals, decimals }: UnitPrice): UsdMicros {
  return valueUsdMicros(amount, decimals, price, priceDecimals)
}
