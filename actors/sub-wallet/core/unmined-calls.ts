import type { TxId } from '../../../src/domain/ids.js'
import type { UnminedCall } from '../../../src/valuation/quoter.js'
import type { NonceLane } from '../../account/core/state.js'
import type { Draft, SubWalletState } from './state.js'

/**
 * Which calls of the wallet will be mined before another one. A call that is valued by running it
 * is run after them: what the first of two asks for, the second may fetch. Plain transfers are
 * left out: they count in full, whatever a later call does with what they moved.
 */

/** Those of one chain that have or will have a nonce, in the order in which they will be mined. */
export function unminedCalls(state: SubWalletState, chainId: number): readonly UnminedCall[] {
  const queued: UnminedCall[] = []
  for (const txId of state.lanes.get(chainId)?.queued ?? []) {
    const draft = state.drafts.get(txId)?.draft
    if (draft !== undefined && !isPlain(draft)) queued.push(callOf(draft, null))
  }
  return [...placedCalls(state, chainId), ...queued]
}

/** Those that have a nonce. */
export function placedCalls(state: SubWalletState, chainId: number): readonly UnminedCall[] {
  const placed: (UnminedCall & { readonly nonce: number })[] = []
  for (const { tx } of state.open.values()) {
    // Mined ones too: a node that lags does not have their blocks, and tells by the nonce.
    if (tx.call.chainId !== chainId || state.drafts.has(tx.txId)) continue
    if (!isPlainSend(state, tx.txId)) placed.push(callOf(tx, tx.nonce))
  }
  for (const { draft, nonce, phase } of state.drafts.values()) {
    if (draft.call.chainId !== chainId || isPlain(draft)) continue
    if (phase === 'signing' || phase === 'held') placed.push(callOf(draft, nonce))
  }
  return placed.sort((a, b) => a.nonce - b.nonce)
}

/** True of transfers that are known without being run, and of the lane's own calls to itself. */
export function isPlain({ basis, signs }: Draft): boolean {
  return basis === null ? signs === 'first-time' : (basis.after ?? null) === null
}

/**
 * Whether a draft was valued after just those calls that will be mined before it, if it gets its
 * nonce now. What was mined meanwhile has happened; what was dropped never will.
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

/** Whether a draft may have a nonce below others: not where one of them was valued without it. */
export function mayFill(state: SubWalletState, draft: Draft, gap: number): boolean {
  if (isPlain(draft) || isPlainSend(state, draft.txId)) return true
  return unminedCalls(state, draft.call.chainId).every(
    ({ txId, nonce }) => nonce === null || nonce < gap || isMined(state, txId),
  )
}

/** Not known after a start, and then assumed not to be. */
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
