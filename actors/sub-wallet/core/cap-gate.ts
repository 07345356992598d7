import type { ApiKey } from '../../../src/domain/api-key.js'
import {
  approvalThatFits,
  type CreditAmount,
  type Exposure,
  type Spend,
  spendOf,
} from '../../../src/domain/exposure.js'
import type { TxId } from '../../../src/domain/ids.js'
import { isoTime } from '../../../src/domain/iso-time.js'
import { formatUsd } from '../../../src/domain/money.js'
import { type CapBreach, capBreach, type SpendCounters } from '../../../src/domain/spend.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { type CallAtGates, keyOf, type Priced } from './call-at-gates.js'
import { type CapNode, capsAbove, windowsOf } from './caps-above.js'
import { creditsOf } from './credits.js'
import { ancestorsOf } from './key-tree.js'
import { limitsHit } from './limit-crossings.js'
import { countersOf, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * Checks a call's value against the caps of its key and of the keys above. The check and the
 * reservation happen in one step, so concurrent calls can never pass a cap together.
 */
export function passesCaps(turn: Turn, asked: CallAtGates): boolean {
  const { state } = turn
  const { nowMs, token, request } = asked
  const key = keyOf(asked)
  const { counters, above, valuation, paid, micros } = asked.priced ?? priceAtGates(turn, asked)
  const passed = breachOf({ key, counters }, above, micros)
  if (passed === null) {
    const { day, month } = above.length === 0 ? counters : windowsOf(counters, above)
    asked.admitted = { key, reservation: { micros, day, month }, valuation, paid }
    return true
  }
  const { node, breach } = passed
  const exposure = exposureOf(asked)
  for (const event of limitsHit(state, node.key, breach, nowMs)) turn.emit(event)
  const fitting =
    exposure === null ? null : approvalThatFits(exposure, excessOf(node.counters, node.key, micros))
  turn.refuseSend(token, limitFault(breach, fitting, node.key !== key), request)
  return false
}

/**
 * Returns the first cap that this amount would pass: the key's own caps first, then those of the
 * keys above.
 */
function breachOf(
  own: CapNode,
  above: readonly CapNode[],
  micros: bigint,
): { readonly node: CapNode; readonly breach: CapBreach } | null {
  const breach = capBreach(own.counters, own.key, micros)
  if (breach !== null) return { node: own, breach }
  for (const node of above) {
    const higher = capBreach(node.counters, node.key, micros)
    if (higher !== null) return { node, breach: higher }
  }
  return null
}

/** Prices the call for the caps. A key with a policy calls it in the gate before. */
export function priceAtGates(turn: Turn, asked: CallAtGates): Priced {
  const { quote, chainId, nowMs, request } = asked
  if (!quote.ok) throw new Error(`${request.txId} came to its caps without a quote`)
  const { state } = turn
  const key = keyOf(asked)
  const counters = countersOf(state, key.lineageId, nowMs)
  const above = capsAbove(state, key.lineageId, nowMs)
  const exposure = exposureOf(asked)
  const after = quote.basis?.after ?? []
  const paid =
    exposure === null ? null : spendWithCredits(state, key, chainId, exposure, counters, after)
  const valuation =
    paid === null ? quote.valuation : { ...quote.valuation, valueMicros: paid.valueMicros }
  const micros = valuation.valueMicros + valuation.gasMicros
  const priced = { counters, above, valuation, paid, micros }
  asked.priced = priced
  return priced
}

function exposureOf({ quote }: CallAtGates): Exposure | null {
  return quote.ok ? (quote.exposure ?? null) : null
}

/**
 * The micro-USD that a call counts for this key now, after what its lineage has already paid for.
 * @param after the calls under way that the exposure was read after
 */
export function spendWithCredits(
  state: SubWalletState,
  key: ApiKey,
  chainId: number,
  exposure: Exposure,
  { day }: SpendCounters,
  after: readonly TxId[],
): Spend {
  const isCapped = hasCap(key) || ancestorsOf(state, key.lineageId).some(hasCap)
  // Most contract calls touch no allowance, and looking up credits would cost them time for
  // nothing.
  const asks = exposure.tokens.some(
    ({ standing, toPermit2 }) => standing.length > 0 || toPermit2 > 0n,
  )
  const credits = asks ? creditsOf(state, key.lineageId, chainId, day, after) : null
  return spendOf(exposure, credits, isCapped)
}

function hasCap({ dailyLimitMicros, monthlyLimitMicros }: ApiKey): boolean {
  return dailyLimitMicros !== null || monthlyLimitMicros !== null
}

/** The micro-USD by which a call would pass the daily or the monthly cap, the larger of the two. */
function excessOf(counters: SpendCounters, key: ApiKey, micros: bigint): bigint {
  const over = (limit: bigint | null, used: bigint) => (limit === null ? 0n : used + micros - limit)
  const daily = over(key.dailyLimitMicros, counters.dayMicros)
  const monthly = over(key.monthlyLimitMicros, counters.monthMicros)
  if (daily > monthly) return daily
  return monthly
}

/** @param isAbove whether the cap belongs to a key above the caller's */
function limitFault(breach: CapBreach, fitting: CreditAmount | null, isAbove: boolean): Fault {
  const limit = formatUsd(breach.limitMicros)
  const left = breach.limitMicros - breach.usedMicros
  const cap = `${breach.period} cap${isAbove ? ' of a key that this one was made by,' : ''} of ${limit} USD`
  return fault(
    'LIMIT_EXCEEDED',
    {
      period: breach.period,
      limit_usd: limit,
      used_usd: formatUsd(breach.usedMicros),
      reserved_usd: formatUsd(breach.reservedMicros),
      requested_usd: formatUsd(breach.requestedMicros),
      resets_at: isoTime(breach.resetsAtMs),
      ...(fitting === null ? {} : { suggestion: suggestionOf(fitting) }),
    },
    fitting === null
      ? `The request would exceed the ${cap}; ${formatUsd(left > 0n ? left : 0n)} USD are left.`
      : `An allowance counts in full, whatever the balance. This one would exceed the ${cap}; at most ${fitting.amount} (smallest units) fits now.`,
  )
}

/** Suggests the same call with the largest allowance that the cap permits. */
function suggestionOf({ token, spender, amount }: CreditAmount) {
  return { token, spender, amount: amount.toString() }
}
