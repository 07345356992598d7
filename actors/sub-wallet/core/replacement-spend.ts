import type { ApiKey } from '../../../src/domain/api-key.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { lesser } from '../../../src/domain/key-policy-forms.js'
import { amountWithin, valueUsdMicros } from '../../../src/domain/money.js'
import { capBreach, type Reservation, settle } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { AccountCommand } from '../../account/core/messages.js'
import type { AccountDraft } from '../../account/core/state.js'
import { type CapNode, capsAbove, leftOfCaps, windowsOf } from './caps-above.js'
import { ancestorsOf } from './key-tree.js'
import { ceilingUsed } from './policy-ledgers.js'
import { countersOf, type Draft, type SubWalletState } from './state.js'

/**
 * Counts what a higher fee adds to the reservation of a transaction. Its value never counts again,
 * but its gas does, up to the new bound; a rising market would otherwise carry a wallet past its
 * cap. A cancellation is exempt, because it releases the value and a lane must be able to move.
 *
 * A transaction that costs more after its day or month is over counts whole in the present windows:
 * the old windows are no longer checked, and the open ones have to bound it.
 */

/** The highest maxFeePerGas, wei, that the remainder of the key's caps pays for; null means no limit. */
export function feeCapOf(state: SubWalletState, tx: Transaction, nowMs: number): bigint | null {
  const key = state.keys.get(tx.keyId)
  const newest = tx.attempts.at(-1)
  if (key === undefined || newest === undefined) return null
  const leftWei = lesser(
    leftOfCapsWei(nodesWithout(state, key, tx, nowMs), tx),
    leftOfCeilingsWei(state, key, tx.call.chainId, nowMs),
  )
  if (leftWei === null) return null
  return newest.maxFeePerGas + (leftWei > 0n ? leftWei / tx.gasLimit : 0n)
}

/** What caps leave beyond what it holds; null: they bound nothing. */
function leftOfCapsWei(
  nodes: readonly CapNode[],
  { reservation, valuation }: Transaction,
): bigint | null {
  const { dailyMicros, monthlyMicros } = leftOfCaps(nodes)
  const leftMicros = lesser(dailyMicros, monthlyMicros)
  if (leftMicros === null) return null
  const moreMicros = leftMicros - reservation.micros
  const { nativePrice, nativePriceDecimals } = valuation
  return moreMicros > 0n
    ? amountWithin(moreMicros, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
    : 0n
}

/** The least that ceilings of native coin leave on the path; null without such a ceiling. */
function leftOfCeilingsWei(
  state: SubWalletState,
  key: ApiKey,
  chainId: number,
  nowMs: number,
): bigint | null {
  let left: bigint | null = null
  for (const { lineageId, policy } of [key, ...ancestorsOf(state, key.lineageId)]) {
    for (const ceiling of policy?.ceilings ?? []) {
      if (ceiling.chainId !== chainId || ceiling.token !== 'native') continue
      left = lesser(left, ceiling.amount - ceilingUsed(state, lineageId, ceiling, nowMs))
    }
  }
  return left
}

/**
 * What a higher fee takes of ceilings of native coin beyond what counts already, as the identity
 * provider counts it.
 * @returns wei; 0 where nothing counts it; null when a ceiling is in the way
 */
export function ceilingsFor(
  state: SubWalletState,
  tx: Transaction,
  { purpose, fees, nowMs }: Extract<AccountCommand, { type: 'replacement-signed' }>,
): bigint | null {
  const key = state.keys.get(tx.keyId)
  if (key === undefined || purpose === 'cancel') return 0n
  const left = leftOfCeilingsWei(state, key, tx.call.chainId, nowMs)
  if (left === null) return 0n
  let counted = 0n
  for (const { maxFeePerGas } of tx.attempts) if (maxFeePerGas > counted) counted = maxFeePerGas
  const extraWei = fees.maxFeePerGas > counted ? (fees.maxFeePerGas - counted) * tx.gasLimit : 0n
  return extraWei > left && extraWei > 0n ? null : extraWei
}

/** @returns what the replaced transaction holds of the counters, or null when a cap prevents it */
export function reservationFor(
  state: SubWalletState,
  tx: Transaction,
  { purpose, fees, nowMs }: Extract<AccountCommand, { type: 'replacement-signed' }>,
): Reservation | null {
  const key = state.keys.get(tx.keyId)
  const valuedAt = lowestFeeOf(tx)
  const { valueMicros, gasMicros, nativePrice, nativePriceDecimals } = tx.valuation
  if (key === undefined || valuedAt === null || purpose === 'cancel') return tx.reservation
  const extraWei = (fees.maxFeePerGas - valuedAt) * tx.gasLimit
  const extraMicros = valueUsdMicros(
    extraWei > 0n ? extraWei : 0n,
    NATIVE_DECIMALS,
    nativePrice,
    nativePriceDecimals,
  )
  const micros = valueMicros + gasMicros + extraMicros
  if (micros <= tx.reservation.micros) return tx.reservation
  const nodes = nodesWithout(state, key, tx, nowMs)
  if (nodes.some((node) => capBreach(node.counters, node.key, micros) !== null)) return null
  const { day, month } = windowsOf(tx.reservation, nodes)
  return { micros, day, month }
}

/**
 * The fee that its gas was valued at. Each bid is higher than the last; when one is mined they
 * change places.
 */
function lowestFeeOf({ attempts }: Transaction): bigint | null {
  let lowest: bigint | null = null
  for (const { maxFeePerGas } of attempts) lowest = lesser(lowest, maxFeePerGas)
  return lowest
}

/** The keys whose caps bind the transaction, with what else counts against them. */
function nodesWithout(
  state: SubWalletState,
  key: ApiKey,
  { reservation }: Transaction,
  nowMs: number,
): readonly CapNode[] {
  const { lineageId } = key
  const own = { key, counters: countersOf(state, lineageId, nowMs) }
  return [own, ...capsAbove(state, lineageId, nowMs)].map(({ key: of, counters }) => ({
    key: of,
    counters: settle(counters, reservation, 0n),
  }))
}

/** An empty self-send, drafted for the lineage of `above`, that lets `above` be mined. */
export function selfSendOf(
  state: SubWalletState,
  draft: AccountDraft,
  { keyId, lineageId, valuation }: Transaction,
  nowMs: number,
): Draft {
  const gasMicros = valueUsdMicros(
    draft.gasLimit * draft.maxFeePerGas,
    NATIVE_DECIMALS,
    valuation.nativePrice,
    valuation.nativePriceDecimals,
  )
  const above = capsAbove(state, lineageId, nowMs)
  const { day, month } = windowsOf(countersOf(state, lineageId, nowMs), above)
  return {
    ...draft,
    keyId,
    lineageId,
    kind: 'send',
    valuation: { ...valuation, valueMicros: 0n, gasMicros },
    reservation: { micros: gasMicros, day, month },
    problem: null,
    basis: null,
    proofKey: null,
    idempotency: null,
  }
}
