import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { OperatorGrant } from '../contracts/functions/contract-function.js'
import type { Hex } from '../domain/ids.js'
import { argumentWord, digitsOf, selectorSearch } from './calldata.js'

const SELECTOR_DIGITS = 8

/**
 * Calls that open a wallet to others (`OperatorGrant`). Only the wallet itself can make them, so
 * each is in its calldata: as the function that `to` runs, or inside a batch that `to` runs on
 * itself. They are searched for at any offset, so that no nesting hides one; four bytes that look
 * like one by chance come about once in 5,000 calls of 4 kB.
 */
const GRANTS: ReadonlyMap<string, OperatorGrant> = new Map(
  CONTRACT_FUNCTIONS.flatMap(({ selector, effect }) =>
    effect.kind === 'operator' ? [[selector, effect] as const] : [],
  ),
)

const placesIn = selectorSearch(new Set(GRANTS.keys()))

/** @returns true when a call, or one nested in it, opens up what has no price */
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
