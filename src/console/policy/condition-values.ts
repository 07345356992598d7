import { parseUnits } from '../parts/money.js'
import { field, isObject, type Json, type Path } from './draft.js'

/** Converts values of conditions between fields and JSON. */

const COIN_DECIMALS = 18

/** Wei as whole coins, with all digits; text that is not an integer stays unchanged. */
export function coinsOf(wei: string): string {
  if (!/^\d+$/.test(wei)) return wei
  const padded = wei.padStart(COIN_DECIMALS + 1, '0')
  const whole = padded.slice(0, -COIN_DECIMALS).replace(/^0+(?=\d)/, '')
  const fraction = padded.slice(-COIN_DECIMALS).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Text that is not an amount stays unchanged, and the service reports it. */
export function weiOf(coins: string): string {
  return parseUnits(coins, COIN_DECIMALS) ?? coins
}

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false }

/** For an argument: no number, address or bytes value is written like a flag. */
export function argumentJson(text: string): Json {
  return FLAGS[text.trim()] ?? text.trim()
}

export function argumentText(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''
}

/**
 * `in` takes a list, the other operators one value; the existing value is kept as far as it fits.
 */
export function withOperator(test: Json | undefined, op: Json | undefined): Json {
  const fields = isObject(test) ? test : {}
  const { value } = fields
  const list: readonly Json[] = Array.isArray(value)
    ? (value as readonly Json[])
    : value === undefined || value === ''
      ? []
      : [value]
  return { ...fields, op: op ?? 'eq', value: op === 'in' ? list : (list[0] ?? '') }
}

/**
 * Whether the field at `path` is the only one of the object at `at`, which would be empty without
 * it.
 */
export function isAllOf(root: Json, at: Path, path: Path): boolean {
  const object = field(root, at)
  return isObject(object) && Object.keys(object).every((name) => name === path.at(-1))
}
