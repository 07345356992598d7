import { isApproved } from '../../../src/domain/approval.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { UnminedCall } from '../../../src/valuation/quoter.js'
import type { Draft, SubWalletState } from './state.js'
import { placedCalls, unminedCalls } from './unmined-calls.js'
import type { WaitingCall } from './waiting-state.js'

/**
 * The identity provider binds an approval to the nonce of its first signature request, because a
 * signature may exist from then on, and at another nonce the call could be executed twice. A crash
 * or an unanswered request may come before the signed bytes. So the nonce is stored before the
 * quorum is called, and kept for the call until it is signed there.
 */

/**
 * How often a call may back off while its nonce is kept: about 15 seconds in all, which outlasts
 * the restart of any process. The wallet's other calls wait during that time, so it is not longer.
 */
const KEPT_RESTS_MAX = 5

/** The waiting call that this nonce is kept for; null when there is no such call. */
export function keptFor(
  { waiting, delegations }: SubWalletState,
  chainId: number,
  nonce: number,
): TxId | null {
  if (waiting.bound.size === 0) return null
  const phase = delegations.get(chainId)?.phase
  if (phase !== undefined && phase !== 'draining') return null
  for (const txId of waiting.bound) {
    const call = waiting.byTx.get(txId)
    if (call === undefined || call.tx.call.chainId !== chainId) continue
    if (call.approval.boundNonce === nonce && isAboutToBeSigned(call)) return txId
  }
  return null
}

/**
 * The calls that will be mined before a draft. For a draft with a kept nonce, calls without a nonce
 * are left out.
 */
export function callsAheadOf(
  state: SubWalletState,
  { txId, call: { chainId } }: Draft,
): readonly UnminedCall[] {
  const { bound, byTx } = state.waiting
  const call = bound.has(txId) ? byTx.get(txId) : undefined
  return call !== undefined && isAboutToBeSigned(call)
    ? placedCalls(state, chainId)
    : unminedCalls(state, chainId)
}

function isAboutToBeSigned({ approval, rests }: WaitingCall): boolean {
  return approval.toldAtMs !== null && isApproved(approval) && rests <= KEPT_RESTS_MAX
}
