import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { Hex } from '../domain/ids.js'
import { argumentWord, digitsOf } from './calldata.js'

/**
 * Calls that open a wallet to others (`OperatorGrant`). Only the wallet itself can make them, so
 * each is in its calldata: as the function that `to` runs, or inside a batch that `to` runs on
 * itself. They are searched for at any offset, so that no nesting hides one; four bytes that look
 * like one by chance come about once in 30,000 calls of 4 kB.
 */
const OPERATOR_CALLS = CONTRACT_FUNCTIONS.flatMap(({ selector, effect }) =>
  effect.kind === 'operator' ? [{ selector, takenBackAt: effect.revokedByZeroAt }] : [],
)

/** @returns true when a call, or one nested in it, opens up what has no price */
export function opensToOthers(data: Hex): boolean {
  const digits = digitsOf(data)
  return OPERATOR_CALLS.some(({ selector, takenBackAt }) => {
    for (let at = digits.indexOf(selector); at !== -1; at = digits.indexOf(selector, at + 1)) {
      // A match across two half-bytes is no selector.
      if (at % 2 !== 0) continue
      if (takenBackAt === null || argumentWord(digits, at, takenBackAt) !== 0n) return true
    }
    return false
  })
}
