import type { TxId } from '../../../src/domain/ids.js'
import type { UnminedCall } from '../../../src/valuation/quoter.js'
import type { NonceLane } from '../../account/core/state.js'
import type { Draft, SubWalletState } from './state.js'

/**
 * Finds the calls of the wallet that will be mined before another one. A call that is valued by
 * simulation is simulated after them, because the second of two calls may take what the first
 * prepares. Plain transfers are left out: they count in full, whatever a later call does with the
 * moved assets.
 */

/**
 * The calls of one chain that have or will have a nonce, in the order in which they will be mined.
 */
export function unminedCalls(state: SubWalletState, chainId: number): readonly UnminedCall[] {
  const queued: UnminedCall[] = []
  for (const txId of state.lanes.get(chainId)?.queued ?? []) {
    const draft = state.drafts.get(txId)?.draft
    if (draft !== undefined && !isPlain(draft)) queued.push(callOf(draft, null))
  }
  return [...placedCalls(state, chainId), ...queued]
}

/** The calls that have a nonce. */
export function placedCalls(state: SubWalletState, chainId: number): readonly UnminedCall[] {
  const placed: (UnminedCall & { readonly nonce: number })[] = []
  for (const { tx } of state.open.values()) {
    // Mined calls too: a node that lags does not have their blocks, and their nonces show that.
    if (tx.call.chainId !== chainId || state.drafts.has(tx.txId)) continue
    if (!isPlainSend(state, tx.txId)) placed.push(callOf(tx, tx.nonce))
  }
  for (const { draft, nonce, phase } of state.drafts.values()) {
    if (draft.call.chainId !== chainId || isPlain(draft)) continue
    if (phase === 'signing' || phase === 'held') placed.push(callOf(draft, nonce))
  }
  return placed.sort((a, b) => a.nonce - b.nonce)
}

/**
 * True for transfers that are understood without simulation, and for the lane's own calls to
 * itself.
 */
export function isPlain({ basis, signs }: Draft): boolean {
  return basis === null ? signs === 'first-time' : (basis.after ?? null) === null
}

/**
 * Whether a draft was valued after exactly those calls that will be mined before it, if it gets its
 * nonce now. Calls mined in the meantime have happened; dropped ones never will.
 */
export function isValuedAfter(state: SubWalletState, lane: NonceLane, { basis }: Draft): boolean {
  const after = basis?.after ?? null
  if (after === null) return true
  const known = new Set(after)
  for (const { txId, nonce } of unminedCalls(state, lane.chainId)) {
    if (nonce !== null && !known.delete(txId) && !isMined(state, txId)) return false
  }
  return known.size === 0
}

/** Whether a draft may take a nonce below others: not when one of them was valued without it. */
export function mayFill(state: SubWalletState, draft: Draft, gap: number): boolean {
  if (isPlain(draft) || isPlainSend(state, draft.txId)) return true
  return unminedCalls(state, draft.call.chainId).every(
    ({ txId, nonce }) => nonce === null || nonce < gap || isMined(state, txId),
  )
}

/** Unknown after a restart, and then assumed to be false. */
function isPlainSend({ requests }: SubWalletState, txId: TxId): boolean {
  return requests.get(txId)?.isPlain === true
}

function isMined(state: SubWalletState, txId: TxId): boolean {
  return (state.open.get(txId)?.tx.mined ?? null) !== null
}

function callOf<N extends number | null>(
  draft: Pick<Draft, 'txId' | 'gasLimit' | 'call'>,
  nonce: N,
) {
  const { txId, gasLimit } = draft
  const { to, value, data } = draft.call
  return { txId, nonce, to, value, data, gasLimit }
}
