import type { ForeseenMove, ForeseenOutcome } from '../domain/foreseen.js'
import type { Hex } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import { NATIVE_ADDRESS, type OwnCall, showCall } from './call-shown.js'

/** `transfer(address,uint256)`; besides native transfers the only plain transfer. */
const TRANSFER = '0xa9059cbb'

/**
 * The outcome of a plain transfer, which needs no simulation: most sends are plain transfers, so
 * the outcome is derived from the call and not stored.
 * @param valueMicros of the whole call; null when unknown
 * @returns null for every other call
 */
export function foreseenByWords(
  call: OwnCall,
  valueMicros: UsdMicros | null,
): ForeseenOutcome | null {
  const { selector, moves, beneficiaries } = showCall(call)
  if ((selector !== 'native' && selector !== TRANSFER) || moves === null) return null
  const worth = moves.length === 1 ? valueMicros : null
  const listed = moves.flatMap(({ token, amount }, index): ForeseenMove[] => {
    const party = beneficiaries?.[index]
    if (party === undefined) return []
    const what = { token: token === 'native' ? null : token, tokenId: null, amount }
    return [{ way: 'out', ...what, atLeast: false, party, valueMicros: worth }]
  })
  return { ...NOTHING, basis: 'words', moves: listed }
}

/**
 * The worst outcome of a sponsored call: the Router takes no more of the input than the terms
 * permit, and reverts when less than `minOut` comes back.
 */
export function foreseenByTerms(
  { tokenIn, amountIn, tokenOut, minOut, target: party }: Omit<IntentTerms, 'data'>,
  valueMicros: UsdMicros | null,
): ForeseenOutcome {
  const known = { tokenId: null, party }
  return {
    ...NOTHING,
    basis: 'terms',
    moves: [
      {
        way: 'out',
        token: tokenOf(tokenIn),
        amount: amountIn,
        atLeast: false,
        valueMicros,
        ...known,
      },
      {
        way: 'in',
        token: tokenOf(tokenOut),
        amount: minOut,
        atLeast: true,
        valueMicros: null,
        ...known,
      },
    ],
  }
}

const NOTHING = { moves: [], approvals: [], leftOut: 0, gasUsed: null, prices: [] } as const

function tokenOf(token: Hex): ForeseenMove['token'] {
  return token.toLowerCase() === NATIVE_ADDRESS ? null : token
}
