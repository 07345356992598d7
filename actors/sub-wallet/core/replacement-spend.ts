import type { ApiKey } from '../../../src/domain/api-key.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { lesser } from '../../../src/domain/key-policy-forms.js'
import { amountWithin, valueUsdMicros } from '../../../src/domain/money.js'
import { capBreach, type Reservation } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { AccountCommand } from '../../account/core/messages.js'
import type { AccountDraft } from '../../account/core/state.js'
import { type CapNode, capsAbove, leftOfCaps, windowsOf } from './caps-above.js'
import { countersOf, type Draft, type SubWalletState } from './state.js'

/**
 * What a higher fee costs beyond what a transaction has reserved. Its value is never counted
 * again; its gas is, as far as it may grow: or a rising market would carry a wallet past its
 * cap. A cancellation is exempt, since it releases the value, and a lane must be able to move.
 */

/** Highest maxFeePerGas, wei, that what is left of the key's caps pays for; null is any. */
export function feeCapOf(state: SubWalletState, tx: Transaction, nowMs: number): bigint | null {
  const key = state.keys.get(tx.keyId)
  const newest = tx.attempts.at(-1)
  if (key === undefined || newest === undefined) return null
  const { dailyMicros, monthlyMicros } = leftOfCaps(nodesOf(state, key, nowMs))
  const leftMicros = lesser(dailyMicros, monthlyMicros)
  if (leftMicros === null) return null
  const { nativePrice, nativePriceDecimals } = tx.valuation
  const leftWei = amountWithin(leftMicros, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  return newest.maxFeePerGas + leftWei / tx.gasLimit
}

/** @returns what the replaced transaction holds of the counters, or null when a cap is in the way */
export function reservationFor(
  state: SubWalletState,
  tx: Transaction,
  { purpose, fees, nowMs }: Extract<AccountCommand, { type: 'replacement-signed' }>,
): Reservation | null {
  const key = state.keys.get(tx.keyId)
  const first = tx.attempts[0]
  const { valueMicros, gasMicros, nativePrice, nativePriceDecimals } = tx.valuation
  if (key === undefined || first === undefined || purpose === 'cancel') return tx.reservation
  const extraWei = (fees.maxFeePerGas - first.maxFeePerGas) * tx.gasLimit
  const extraMicros = valueUsdMicros(
    extraWei > 0n ? extraWei : 0n,
    NATIVE_DECIMALS,
    nativePrice,
    nativePriceDecimals,
  )
  const micros = valueMicros + gasMicros + extraMicros
  const more = micros - tx.reservation.micros
  if (more <= 0n) return tx.reservation
  const nodes = nodesOf(state, key, nowMs)
  if (nodes.some((node) => capBreach(node.counters, node.key, more) !== null)) return null
  return { ...tx.reservation, micros }
}

function nodesOf(state: SubWalletState, key: ApiKey, nowMs: number): readonly CapNode[] {
  const { lineageId } = key
  const own = { key, counters: countersOf(state, lineageId, nowMs) }
  return [own, ...capsAbove(state, lineageId, nowMs)]
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
