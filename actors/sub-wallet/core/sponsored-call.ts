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

/** As the audit trail shows it: the Router's call, with the venue's calldata. */
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
  const { nativePrice, nativePriceDecimals } = valuation
  const feeWei = mined?.feeWei ?? 0n
  return valueUsdMicros(feeWei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
}

/** What a node says may be of before a delegation was ended; one authorization too many does no harm. */
export function mustDelegate(
  { undelegated }: Pick<SubWalletState, 'undelegated'>,
  chainId: number,
  delegated: boolean,
): boolean {
  return !delegated || undelegated.has(chainId)
}

/** A lane starts at the chain's nonce, and follows it when the account was used from outside. */
export function syncLane(turn: Turn, chainId: number, chainNonce: number | null): void {
  const lane = laneOf(turn.state, chainId)
  const behind = chainNonce !== null && isIdle(lane) && (lane.nextNonce ?? -1) < chainNonce
  if (!behind || turn.state.delegations.has(chainId)) return
  const { window, nextNonce: before } = lane
  turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
}

/**
 * The record of a call that had waited, while no gas wallet has signed for its intent: others have
 * none until then. `from` is the account; the nonce and the hash will be the gas wallet's.
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
