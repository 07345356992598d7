import { getAddress } from 'viem/utils'
import { formatUnits, formatUsd, powerOfTen } from '../../domain/money.js'
import type { PredictedOutcome, PredictedPrice } from '../../domain/predicted-outcome.js'
import type { TokenNamed } from './token-names.js'

type NameToken = (token: PredictedPrice['token']) => TokenNamed

/** USD amounts are in millionths. */
const USD_DECIMALS = 6

/** The predicted outcome of a call, as a person reads it. @param why the reason if it is unknown */
export function predictedView(predicted: PredictedOutcome | null, named: NameToken, why: string) {
  if (predicted === null) return { ...NOTHING, note: why }
  const { basis, moves, approvals, leftOut, gasUsed } = predicted
  return {
    ...{ basis, note: NOTES[basis] },
    gas_used: gasUsed?.toString() ?? null,
    moves: moves.map(({ way, token, tokenId, amount, atLeast, party, valueMicros }) => ({
      ...{ way, ...named(token) },
      token_id: tokenId?.toString() ?? null,
      amount: amount.toString(),
      at_least: atLeast,
      party: getAddress(party),
      usd: usd(valueMicros),
    })),
    approvals: approvals.map(({ token, tokenId, spender, amount, valueMicros }) => ({
      ...named(token),
      token_id: tokenId?.toString() ?? null,
      spender: getAddress(spender),
      amount: amount.toString(),
      usd: usd(valueMicros),
    })),
    left_out: leftOut,
  }
}

const NOTHING = {
  ...{ basis: 'none' as const, gas_used: null, left_out: 0 },
  ...{ moves: [], approvals: [] },
}

const NOTES: Readonly<Record<PredictedOutcome['basis'], string>> = {
  run: 'A node simulated it when it was decided.',
  words: 'No simulation was needed: the call itself shows everything that it moves.',
  terms: 'The Router enforces these terms on its execution, or reverts it.',
}

/** The prices at which a call was valued. */
export function pricesView(
  predicted: PredictedOutcome | null,
  native: Omit<PredictedPrice, 'token'> | null,
  named: NameToken,
) {
  const prices = [...(predicted?.prices ?? [])]
  const isNamed = prices.some(({ token }) => token === null)
  if (native !== null && native.value > 0n && !isNamed) prices.unshift({ token: null, ...native })
  const implied = predicted === null ? null : impliedPrice(predicted, named)
  if (implied !== null) prices.push(implied)
  return prices.map(({ token, value, decimals }) => {
    const { symbol } = named(token)
    return { ...named(token), symbol, usd: formatUnits(value, decimals) }
  })
}

/**
 * A call that is valued without being run stores only its value. If it moves at least one whole
 * unit of its token, the price follows to a millionth of a dollar; for less it would be too
 * imprecise to show.
 */
function impliedPrice({ basis, moves }: PredictedOutcome, named: NameToken): PredictedPrice | null {
  const [out, another] = moves.filter(({ way }) => way === 'out')
  if (basis === 'run' || out === undefined || another !== undefined) return null
  const { token, amount, valueMicros } = out
  const { decimals } = named(token)
  if (token === null || decimals === null || valueMicros === null) return null
  const unit = powerOfTen(decimals)
  if (amount < unit) return null
  return { token, value: (valueMicros * unit) / amount, decimals: USD_DECIMALS }
}

function usd(micros: bigint | null): string | null {
  return micros === null ? null : formatUsd(micros)
}
