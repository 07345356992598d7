import type { Address } from '../domain/ids.js'
import { addressOf, argumentWord, digitsOf } from './calldata.js'
import { UINT256_MAX } from './well-known.js'

/**
 * Calls in the wallet's name inside other calldata: a permit handed to a router, a transferFrom in
 * a multicall. Found by the wallet's address where such a function has its owner, at any offset
 * and any depth, so that no nesting and no container format hides one.
 */
export interface Claim {
  /** Null where the calldata does not name it: any token then. */
  readonly token: Address | null
  /** Smallest units. */
  readonly amount: bigint
}

interface ClaimShape {
  /** Argument word that names the wallet. */
  readonly ownerWord: number
  readonly tokenWord: number | null
  readonly amount: (word: (index: number) => bigint) => bigint
}

const valueAt = (ownerWord: number, amountWord: number, tokenWord: number | null = null) => ({
  ownerWord,
  tokenWord,
  amount: (word: (index: number) => bigint) => word(amountWord),
})

const CLAIM_SHAPES: ReadonlyMap<string, ClaimShape> = new Map([
  // transferFrom; EIP-2612; EIP-3009 four ways; burnFrom; ERC-1363 transferFromAndCall twice
  ['23b872dd', valueAt(0, 2)],
  ['d505accf', valueAt(0, 2)],
  ['e3ee160e', valueAt(0, 2)],
  ['cf092995', valueAt(0, 2)],
  ['ef55bec6', valueAt(0, 2)],
  ['88b7ab63', valueAt(0, 2)],
  ['79cc6790', valueAt(0, 1)],
  ['c1d34b89', valueAt(0, 2)],
  ['d8fbe994', valueAt(0, 2)],
  // DAI's permit: everything, or nothing
  [
    '8fcbaf0c',
    { ownerWord: 0, tokenWord: null, amount: (word) => (word(4) === 0n ? 0n : UINT256_MAX) },
  ],
  // Permit2: transferFrom, permit, permitTransferFrom, permitWitnessTransferFrom
  ['36c78516', valueAt(0, 2, 3)],
  ['2b67b570', valueAt(0, 2, 1)],
  ['30f28b7a', valueAt(6, 1, 0)],
  ['137c29fe', valueAt(6, 1, 0)],
])

const OWNER_WORDS: readonly number[] = [0, 6]
const WORD_DIGITS = 64
const SELECTOR_DIGITS = 8
const PADDING_DIGITS = 24

/**
 * @param digits lower-case hex of the calldata, without prefix; the function at its start is not
 *   a claim but the call itself, and left out
 */
export function findClaims(digits: string, wallet: Address): Claim[] {
  const claims: Claim[] = []
  const needle = digitsOf(wallet)
  for (let at = digits.indexOf(needle); at !== -1; at = digits.indexOf(needle, at + 1)) {
    for (const ownerWord of OWNER_WORDS) {
      const selectorAt = at - PADDING_DIGITS - ownerWord * WORD_DIGITS - SELECTOR_DIGITS
      // A match across two half-bytes is no address.
      if (selectorAt <= 0 || selectorAt % 2 !== 0) continue
      const shape = CLAIM_SHAPES.get(digits.slice(selectorAt, selectorAt + SELECTOR_DIGITS))
      if (shape === undefined || shape.ownerWord !== ownerWord) continue
      const word = (index: number) => argumentWord(digits, selectorAt, index)
      claims.push({
        token: shape.tokenWord === null ? null : addressOf(word(shape.tokenWord)),
        amount: shape.amount(word),
      })
    }
  }
  return claims
}
