import { parseUnits } from '../parts/money.js'
import { field, isObject, type Json, type Path } from './draft.js'

/** Values of conditions as fields show them, and as the JSON has them. */

const COIN_DECIMALS = 18

/** Wei as whole coins, every digit; what is no integer as it is. */
export function coinsOf(wei: string): string {
  if (!/^\d+$/.test(wei)) return wei
  const padded = wei.padStart(COIN_DECIMALS + 1, '0')
  const whole = padded.slice(0, -COIN_DECIMALS).replace(/^0+(?=\d)/, '')
  const fraction = padded.slice(-COIN_DECIMALS).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** What is no amount stays text, and the service says so. */
export function weiOf(coins: string): string {
  return parseUnits(coins, COIN_DECIMALS) ?? coins
}

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false }

/** Of an argument: no number, address or bytes is written as a flag is. */
export function argumentJson(text: string): Json {
  return FLAGS[text.trim()] ?? text.trim()
}

export function argumentText(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''
}

/** `in` takes a list, the others one value: what was there is kept as far as it goes. */
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

/** Whether the field at `path` is all that the object `at` has: without it the object asks nothing. */
export function isAllOf(root: Json, at: Path, path: Path): boolean {
  const object = field(root, at)
  return isObject(object) && Object.keys(object).every((name) => name === path.at(-1))
}
