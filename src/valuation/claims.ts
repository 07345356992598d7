import { CONTRACT_FUNCTIONS } from '../contracts/functions/all-functions.js'
import type { Approval, Effect, Outflow } from '../contracts/functions/contract-function.js'
import type { Address } from '../domain/ids.js'
import { addressOf, amountOf, argumentWord, digitsOf } from './calldata.js'

/**
 * Calls in the wallet's name inside other calldata: a permit handed to a router, a transferFrom in
 * a multicall. They are found by the wallet's address at the owner argument of such a function, at
 * any offset and any depth, so that neither nesting nor a container format hides one.
 */
export interface Claim {
  /** Null when the calldata does not name it: then it may be any token. */
  readonly token: Address | null
  /** In smallest units. */
  readonly amount: bigint
}

/** Functions that name the owner of the tokens that they move. */
type OwnedEffect = (Outflow | Approval) & { readonly owner: number }

const OWNED: ReadonlyMap<string, OwnedEffect> = new Map(
  CONTRACT_FUNCTIONS.flatMap(({ selector, effect }) =>
    isOwned(effect) ? [[selector, effect]] : [],
  ),
)

function isOwned(effect: Effect): effect is OwnedEffect {
  return (effect.kind === 'outflow' || effect.kind === 'approval') && effect.owner !== undefined
}

const OWNER_WORDS: readonly number[] = [...new Set([...OWNED.values()].map(({ owner }) => owner))]
const WORD_DIGITS = 64
const SELECTOR_DIGITS = 8
const PADDING_DIGITS = 24

/**
 * @param digits lower-case hex of the calldata, without prefix; the function at its start is not a
 * claim but the call itself, and left out
 */
export function findClaims(digits: string, wallet: Address): Claim[] {
  const claims: Claim[] = []
  const needle = digitsOf(wallet)
  for (let at = digits.indexOf(needle); at !== -1; at = digits.indexOf(needle, at + 1)) {
    for (const ownerWord of OWNER_WORDS) {
      const selectorAt = at - PADDING_DIGITS - ownerWord * WORD_DIGITS - SELECTOR_DIGITS
      // A match across two half-bytes is not an address.
      if (selectorAt <= 0 || selectorAt % 2 !== 0) continue
      const effect = OWNED.get(digits.slice(selectorAt, selectorAt + SELECTOR_DIGITS))
      if (effect === undefined || effect.owner !== ownerWord) continue
      const word = (index: number) => argumentWord(digits, selectorAt, index)
      const amount = amountOf(effect.amount, word)
      claims.push({
        token: effect.token === undefined ? null : addressOf(word(effect.token)),
        amount,
      })
    }
  }
  return claims
}
