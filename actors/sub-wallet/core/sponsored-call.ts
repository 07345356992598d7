import type { Call } from '../../../src/domain/call.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { type UsdMicros, valueUsdMicros } from '../../../src/domain/money.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import {
  type MinedIn,
  NO_NONCE,
  type Transaction,
  type Valuation,
} from '../../../src/domain/transaction.js'
import { isIdle, laneOf } from '../../account/core/state.js'
import type { RefusedCall } from './messages.js'
import type { PreparedSponsored } from './sponsored-messages.js'
import type { SponsoredDraft } from './sponsored-state.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/** The call in the form that the audit trail shows: the Router's call with the venue's calldata. */
export function callOf(command: PreparedSponsored | SponsoredDraft): RefusedCall {
  const { txId, keyId, requestId, chainId, kind, router } = command
  const quoted = 'quote' in command ? command.quote : null
  const terms = quoted === null ? 'terms' in command && command.terms : quoted.ok && quoted.terms
  const known = terms !== false && terms.ok ? terms.value : null
  const call: Call = { chainId, to: router, value: 0n, data: known?.data ?? '0x' }
  const worth =
    'valuation' in command ? command.valuation : quoted?.ok === true ? quoted.valuation : null
  return {
    ...{ txId, keyId, requestId, kind, call },
    ...(worth === null ? {} : { valuation: worth }),
    ...(known === null ? {} : { terms: known }),
  }
}

export function gasCostMicros(mined: MinedIn | null, valuation: Valuation): UsdMicros {
  return weiInMicros(mined?.feeWei ?? 0n, valuation)
}

/** Converts wei to micro-USD at the price of the native coin that the call was valued at. */
export function weiInMicros(
  wei: bigint,
  { nativePrice, nativePriceDecimals }: Pick<Valuation, 'nativePrice' | 'nativePriceDecimals'>,
): UsdMicros {
  return valueUsdMicros(wei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
}

/**
 * Whether the call must carry a delegation. A node's answer may predate the end of a delegation;
 * one authorization too many does no harm.
 */
export function mustDelegate(
  { undelegated }: Pick<SubWalletState, 'undelegated'>,
  chainId: number,
  delegated: boolean,
): boolean {
  return !delegated || undelegated.has(chainId)
}

/**
 * Starts a lane at the chain's nonce, and moves it forward when the account was used from outside.
 */
export function syncLane(turn: Turn, chainId: number, chainNonce: number | null): void {
  const lane = laneOf(turn.state, chainId)
  const behind = chainNonce !== null && isIdle(lane) && (lane.nextNonce ?? -1) < chainNonce
  if (!behind || turn.state.delegations.has(chainId)) return
  const { window, nextNonce: before } = lane
  turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
}

/**
 * The record of a call that had waited, before any gas wallet has signed for its intent; other
 * calls have no record until then. `from` is the account; the nonce and the hash will be the gas
 * wallet's.
 */
export function recordBeforeGas(
  { wallet }: Pick<SubWalletState, 'wallet'>,
  sponsorship: Sponsorship,
  status: 'signed' | 'dropped',
  nowMs: number,
  error: Transaction['error'] = null,
): Transaction | null {
  const { waited, txId, keyId, lineageId, requestId, chainId, kind, router, calldata } = sponsorship
  const { valuation, reservation } = sponsorship
  if (wallet === null || waited === undefined) return null
  return {
    ...{ txId, keyId, lineageId, requestId, kind, status, error, valuation, reservation },
    call: { chainId, to: router, value: 0n, data: calldata },
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    from: wallet.address,
    ...{ nonce: NO_NONCE, gasLimit: 0n, attempts: [], mined: null, confirmedAtMs: null },
    spentMicros: status === 'signed' ? reservation.micros : 0n,
    approval: waited.approval,
    createdAtMs: waited.createdAtMs,
    updatedAtMs: nowMs,
  }
}
