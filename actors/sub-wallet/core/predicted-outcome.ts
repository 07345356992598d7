import type { Address } from '../../../src/domain/ids.js'
import {
  PREDICTED_LISTED_MAX,
  type PredictedMove,
  type PredictedOutcome,
} from '../../../src/domain/predicted-outcome.js'
import type { QuoteBasis } from '../../../src/valuation/quoter.js'

/**
 * The stored part of the simulation that a call was valued by.
 * @returns null for a plain transfer, whose calldata describes it completely
 */
export function predictedOutcomeOf(
  wallet: Address,
  basis: QuoteBasis | null,
): PredictedOutcome | null {
  if (basis === null) return null
  const { simulated, movements, approvals, gasUsed } = basis
  if (!simulated && movements.length + approvals.length === 0) return null
  const moves = movements.map(({ token, tokenId = null, from, to, amount, valueMicros }) => {
    const isOut = from.toLowerCase() === wallet.toLowerCase()
    const move: PredictedMove = {
      ...{ way: isOut ? 'out' : 'in', token, tokenId, amount, atLeast: false },
      ...{ party: isOut ? to : from, valueMicros },
    }
    return move
  })
  const listed = [...moves].sort(byWeight).slice(0, PREDICTED_LISTED_MAX)
  const given = [...approvals].sort(byWorth).slice(0, PREDICTED_LISTED_MAX)
  return {
    basis: simulated ? 'run' : 'words',
    moves: listed,
    approvals: given.map(({ token, tokenId = null, spender, amount, valueMicros }) => ({
      ...{ token, tokenId, spender, amount, valueMicros },
    })),
    leftOut: moves.length - listed.length + (approvals.length - given.length),
    gasUsed,
    prices: basis.prices.slice(0, PREDICTED_LISTED_MAX).map(({ token, value, decimals }) => ({
      ...{ token: token === 'native' ? null : token, value, decimals },
    })),
  }
}

/**
 * Sorts outgoing moves first and the most valuable first within them, so that many worthless moves
 * cannot hide the one that matters.
 */
function byWeight(a: PredictedMove, b: PredictedMove): number {
  return a.way === b.way ? byWorth(a, b) : a.way === 'out' ? -1 : 1
}

interface Worth {
  readonly valueMicros: bigint | null
}

function byWorth({ valueMicros: a }: Worth, { valueMicros: b }: Worth): number {
  // An asset without a price sorts after the priced ones; no sum includes it.
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return a === b ? 0 : a > b ? -1 : 1
}
