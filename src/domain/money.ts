/**
 * USD as integer micro-dollars (1 USD = 1,000,000). Conversions from token amounts round up:
 * against the spender, so that rounding never lets a cap be passed.
 */
export type UsdMicros = bigint

export const MICROS_PER_USD = 1_000_000n

/** A decimal USD string has at most this many integer digits; ample, and bounded. */
const USD_INTEGER_DIGITS_MAX = 15
const USD_DECIMAL = /^(0|[1-9]\d*)(?:\.(\d{1,6}))?$/

/**
 * Precomputed for every token and price in use: computing a power of ten takes as long as the whole
 * remaining valuation.
 */
const POWERS_OF_TEN = Array.from({ length: 80 }, (_, exponent) => 10n ** BigInt(exponent))

export function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent)
}

/** Parses "12.34"; null when it is not a non-negative decimal with at most 6 fraction digits. */
export function parseUsd(text: string): UsdMicros | null {
  const match = USD_DECIMAL.exec(text)
  const whole = match?.[1]
  if (match === null || whole === undefined || whole.length > USD_INTEGER_DIGITS_MAX) return null
  return BigInt(whole) * MICROS_PER_USD + BigInt((match[2] ?? '').padEnd(6, '0'))
}

/**
 * The inverse: the largest amount whose value does not exceed this. Zero without a price.
 * @returns smallest units
 */
export function amountWithin(
  micros: UsdMicros,
  decimals: number,
  price: bigint,
  priceDecimals: number,
): bigint {
  if (micros <= 0n || price <= 0n) return 0n
  return (micros * powerOfTen(decimals + priceDecimals)) / (price * MICROS_PER_USD)
}

/** "12.34": no trailing zeros beyond two fraction digits, so that cents always show. */
export function formatUsd(micros: UsdMicros): string {
  const sign = micros < 0n ? '-' : ''
  const abs = micros < 0n ? -micros : micros
  const fraction = (abs % MICROS_PER_USD)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${sign}${abs / MICROS_PER_USD}.${fraction}`
}

/**
 * Values a token amount, rounded up.
 * @param amount smallest units
 * @param tokenDecimals 0 to 77
 * @param price price of one whole token, scaled by 10^priceDecimals
 */
export function valueUsdMicros(
  amount: bigint,
  tokenDecimals: number,
  price: bigint,
  priceDecimals: number,
): UsdMicros {
  const numerator = amount * price * MICROS_PER_USD
  const denominator = powerOfTen(tokenDecimals + priceDecimals)
  return (numerator + denominator - 1n) / denominator
}

/** Decimal form of an integer amount: (1500000n, 6) → "1.5". */
export function formatUnits(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString()
  const digits = amount.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
