import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { Hex } from '../domain/ids.js'
import { argumentWord, digitsOf } from './calldata.js'

const HALF_DIGITS = 4
const ZERO = 48
const LOWER_A = 97

/**
 * Calls that open a wallet to others (`OperatorGrant`). Only the wallet itself can make them, so
 * each is in its calldata: as the function that `to` runs, or inside a batch that `to` runs on
 * itself. They are searched for at any offset, so that no nesting hides one; four bytes that look
 * like one by chance come about once in 5,000 calls of 4 kB.
 */
const TAKEN_BACK_AT: ReadonlyMap<string, number | null> = new Map(
  CONTRACT_FUNCTIONS.flatMap(({ selector, effect }) =>
    effect.kind === 'operator' ? [[selector, effect.revokedByZeroAt] as const] : [],
  ),
)

/** Their first halves: all but a few places of any calldata are passed over by one look at this. */
const FIRST_HALVES = new Uint8Array(1 << 16)
for (const selector of TAKEN_BACK_AT.keys()) {
  FIRST_HALVES[Number.parseInt(selector.slice(0, HALF_DIGITS), 16)] = 1
}

/** @returns true when a call, or one nested in it, opens up what has no price */
export function opensToOthers(data: Hex): boolean {
  const digits = digitsOf(data)
  let half = 0
  for (let at = 0; at + 1 < digits.length; at += 2) {
    half = ((half << 8) | byteAt(digits, at)) & 0xffff
    if (FIRST_HALVES[half] === 0 || at < 2) continue
    const from = at - 2
    const takenBackAt = TAKEN_BACK_AT.get(digits.slice(from, from + 2 * HALF_DIGITS))
    if (takenBackAt === undefined) continue
    if (takenBackAt === null || argumentWord(digits, from, takenBackAt) !== 0n) return true
  }
  return false
}

/** Of lower-case digits. */
function byteAt(digits: string, at: number): number {
  return (digitOf(digits.charCodeAt(at)) << 4) | digitOf(digits.charCodeAt(at + 1))
}

function digitOf(code: number): number {
  return code < LOWER_A ? code - ZERO : code - LOWER_A + 10
}
