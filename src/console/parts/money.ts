/** Amounts are decimal strings from the wire to the page; nothing here converts one to a float. */

const MICROS_PER_USD = 1_000_000n
const MICROS_PER_CENT = 10_000n
const USD = /^(\d{1,15})(?:\.(\d{1,6}))?$/

/** @returns micro-USD, or null if the text is not an amount */
export function usdMicros(text: string): bigint | null {
  const match = USD.exec(text)
  if (match === null) return null
  return BigInt(match[1] ?? '0') * MICROS_PER_USD + BigInt((match[2] ?? '').padEnd(6, '0'))
}

/** `$1,234.50`, to the nearest cent; below a dollar with all digits. */
export function formatUsd(text: string): string {
  const micros = usdMicros(text)
  return micros === null ? text : formatMicros(micros)
}

export function formatMicros(micros: bigint): string {
  if (micros < MICROS_PER_USD) return exactMicros(micros)
  return exactMicros(((micros + MICROS_PER_CENT / 2n) / MICROS_PER_CENT) * MICROS_PER_CENT)
}

/** All digits, with at least two after the point. */
export function exactMicros(micros: bigint): string {
  const whole = grouped((micros / MICROS_PER_USD).toString())
  const digits = (micros % MICROS_PER_USD).toString().padStart(6, '0').replace(/0+$/, '')
  return `$${whole}.${digits.padEnd(2, '0')}`
}

/**
 * Converts a decimal amount of a token to an integer in its smallest unit.
 * @returns null if it is not an amount, or has more digits than the token allows
 */
export function parseUnits(text: string, decimals: number): string | null {
  const match = /^(\d{1,30})(?:\.(\d+))?$/.exec(text.trim())
  if (match === null) return null
  const [, whole = '', fraction = ''] = match
  if (fraction.length > decimals) return null
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString()
}

/** A cap as text: an amount, or none. */
export function formatCap(text: string): string {
  return text === 'unlimited' ? 'No cap' : formatUsd(text)
}

/** @returns per mille of the cap, at most 1000; null without a cap */
export function shareOfCap(used: bigint, cap: string): number | null {
  const limit = usdMicros(cap)
  if (limit === null) return null
  if (limit === 0n) return 1_000
  const share = (used * 1_000n) / limit
  return share > 1_000n ? 1_000 : Number(share)
}

/**
 * Converts an integer amount in its smallest unit to a decimal, cut (not rounded) to `digitsMax`
 * digits after the point.
 */
export function formatUnits(amount: string, decimals: number, digitsMax = 6): string {
  if (!/^\d+$/.test(amount)) return amount
  const padded = amount.padStart(decimals + 1, '0')
  const whole = grouped(padded.slice(0, padded.length - decimals).replace(/^0+(?=\d)/, ''))
  const all = decimals === 0 ? '' : padded.slice(-decimals)
  const shown = all.slice(0, digitsMax).replace(/0+$/, '')
  if (shown === '') return /[1-9]/.test(all) && whole === '0' ? '< 0.000001' : whole
  return `${whole}.${shown}`
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}
