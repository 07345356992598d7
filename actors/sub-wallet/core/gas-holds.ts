import type { UsdMicros } from '../../../src/domain/money.js'
import { gasMaxOf } from '../../../src/domain/sponsored-gas.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import { gasLack } from './gas-budget-gate.js'
import { weiInMicros } from './sponsored-call.js'
import type { SponsorUpdate } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

/** Adjusts what a sponsored call holds of the gas budgets once its gas wallet knows the cost. */

/** Bounds the number of raises; while fees rise, each new estimate could need another one. */
const RAISES_MAX = 4

/**
 * The gas wallet's estimate may exceed what the call holds: the budgets are checked and the
 * difference is held in one step, and the gas wallet is asked again.
 * @returns why the call is given up, or null when the hold was not the problem
 */
export function holdNeeded(
  turn: Turn,
  { raises }: SponsoredEntry,
  sponsorship: Sponsorship,
  { refusal, nowMs }: SponsorUpdate,
): Fault | 'held' | null {
  if (refusal?.neededWei === undefined) return null
  if (raises >= RAISES_MAX) return refusal.fault
  return raise(turn, sponsorship, refusal.neededWei, nowMs) ?? 'held'
}

/**
 * Holds more for a transaction in flight that needs a higher fee. Without it the gas wallet
 * eventually ends the transaction.
 */
export function holdWanted(
  turn: Turn,
  { txId }: SponsoredEntry,
  { wantedWei, nowMs }: SponsorUpdate,
): void {
  const entry = turn.state.sponsored.get(txId)
  if (wantedWei === undefined || entry?.phase !== 'sent' || entry.sponsorship === null) return
  raise(turn, entry.sponsorship, wantedWei, nowMs)
}

/** @returns why the call may not hold this much, or null when it does from now on */
function raise(turn: Turn, sponsorship: Sponsorship, wei: bigint, nowMs: number): Fault | null {
  const account = turn.state.wallet?.address
  const gasMicros = weiInMicros(wei, sponsorship.valuation)
  const lack = gasLack(turn.state, gasMicros - sponsorship.gasMicros, nowMs)
  if (lack !== null || account === undefined) return lack
  if (gasMicros <= sponsorship.gasMicros) return null
  const raised: Sponsorship = { ...sponsorship, gasMicros }
  turn.emit({ type: 'sponsored-moved', sponsorship: raised, raised: true })
  turn.effect({ type: 'submit-job', sponsorship: raised, account })
  return null
}

/** The cost of a cancellation: twice the fee of the call's newest attempt. */
export function cancellationMicros(
  { chainId, valuation }: Sponsorship,
  { attempts }: AccountTransaction,
): UsdMicros {
  const maxFeePerGas = attempts.at(-1)?.maxFeePerGas ?? 0n
  return weiInMicros(gasMaxOf(chainId, 'cancel') * maxFeePerGas * 2n, valuation)
}
