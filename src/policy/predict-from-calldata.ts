import type { Hex } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { PredictedMove, PredictedOutcome } from '../domain/predicted-outcome.js'
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
export function predictFromCalldata(
  call: OwnCall,
  valueMicros: UsdMicros | null,
): PredictedOutcome | null {
  const { selector, moves, beneficiaries } = showCall(call)
  if ((selector !== 'native' && selector !== TRANSFER) || moves === null) return null
  const worth = moves.length === 1 ? valueMicros : null
  const listed = moves.flatMap(({ token, amount }, index): PredictedMove[] => {
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
export function predictFromTerms(
  { tokenIn, amountIn, tokenOut, minOut, target: party }: Omit<IntentTerms, 'data'>,
  valueMicros: UsdMicros | null,
): PredictedOutcome {
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

function tokenOf(token: Hex): PredictedMove['token'] {
  return token.toLowerCase() === NATIVE_ADDRESS ? null : token
}
