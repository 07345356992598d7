import { isApproved } from '../../../src/domain/approval.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { UnminedCall } from '../../../src/valuation/quoter.js'
import type { Draft, SubWalletState } from './state.js'
import { placedCalls, unminedCalls } from './unmined-calls.js'
import type { WaitingCall } from './waiting-state.js'

/**
 * The identity provider binds an approval to the first nonce that it is used at, for a signature may
 * exist from then on: at another nonce it could be executed twice. A crash, or a quorum that does
 * not answer, may come between that and the signed bytes; so the nonce is noted before the quorum is
 * asked, and kept for the call until it is signed there.
 */

/**
 * Times that a call may rest while its nonce is kept: a quarter of a minute in all, which outlasts
 * the restart of any process. The wallet's other calls wait meanwhile, so no longer than that.
 */
const KEPT_RESTS_MAX = 5

/** The waiting call that is to have this nonce; null: none is. */
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

/** What will be mined before a draft: of one that its nonce is kept for, nothing that has none yet. */
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
