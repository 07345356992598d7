import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { OperatorGrant } from '../contracts/functions/contract-function.js'
import type { Hex } from '../domain/ids.js'
import { argumentWord, digitsOf, selectorSearch } from './calldata.js'

const SELECTOR_DIGITS = 8

/**
 * Calls that give others power over a wallet's assets (`OperatorGrant`). Only the wallet itself can
 * make them, so each is in its calldata: as the function that `to` runs, or inside a batch that
 * `to` runs on itself. They are searched for at any offset, so that no nesting hides one; a chance
 * match of four bytes occurs about once in 5,000 calls of 4 kB.
 */
const GRANTS: ReadonlyMap<string, OperatorGrant> = new Map(
  CONTRACT_FUNCTIONS.flatMap(({ selector, effect }) =>
    effect.kind === 'operator' ? [[selector, effect] as const] : [],
  ),
)

const placesIn = selectorSearch(new Set(GRANTS.keys()))

/** @returns true when the call, or one nested in it, gives others power over unpriced assets */
export function opensToOthers(data: Hex): boolean {
  const digits = digitsOf(data)
  return placesIn(digits).some((from) => {
    const grant = GRANTS.get(digits.slice(from, from + SELECTOR_DIGITS))
    if (grant === undefined) return false
    const word = (index: number) => argumentWord(digits, from, index)
    const { revokedByZeroAt, unless } = grant
    if (unless !== undefined) return !unless(word)
    return revokedByZeroAt === null || word(revokedByZeroAt) !== 0n
  })
}
