import type { ApiKey } from '../../../src/domain/api-key.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { lesser } from '../../../src/domain/key-policy-forms.js'
import { amountWithin, valueUsdMicros } from '../../../src/domain/money.js'
import { capBreach, type Reservation, settle } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { AccountCommand } from '../../account/core/messages.js'
import type { AccountDraft } from '../../account/core/state.js'
import { type CapNode, capsAbove, leftOfCaps, windowsOf } from './caps-above.js'
import { countersOf, type Draft, type SubWalletState } from './state.js'

/**
 * What a higher fee costs beyond what a transaction has reserved. Its value is never counted
 * again; its gas is, as far as it may grow: or a rising market would carry a wallet past its
 * cap. A cancellation is exempt, since it releases the value, and a lane must be able to move.
 *
 * A transaction that costs more after its day or month is over counts whole in those of now: in the
 * old ones nobody looks any more, and what is open has to bound it.
 */

/** Highest maxFeePerGas, wei, that what is left of the key's caps pays for; null is any. */
export function feeCapOf(state: SubWalletState, tx: Transaction, nowMs: number): bigint | null {
  const key = state.keys.get(tx.keyId)
  const newest = tx.attempts.at(-1)
  if (key === undefined || newest === undefined) return null
  const { dailyMicros, monthlyMicros } = leftOfCaps(nodesWithout(state, key, tx, nowMs))
  const leftMicros = lesser(dailyMicros, monthlyMicros)
  if (leftMicros === null) return null
  const moreMicros = leftMicros - tx.reservation.micros
  if (moreMicros <= 0n) return newest.maxFeePerGas
  const { nativePrice, nativePriceDecimals } = tx.valuation
  const leftWei = amountWithin(moreMicros, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  return newest.maxFeePerGas + leftWei / tx.gasLimit
}

/** @returns what the replaced transaction holds of the counters, or null when a cap is in the way */
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

/** The one that its gas was valued at: each bid is higher, and where one landed they change places. */
function lowestFeeOf({ attempts }: Transaction): bigint | null {
  let lowest: bigint | null = null
  for (const { maxFeePerGas } of attempts) lowest = lesser(lowest, maxFeePerGas)
  return lowest
}

/** Whose caps hold for it, and what else counts against them. */
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

/** A self-send that lets `above` go on, as a draft of its lineage. */
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
