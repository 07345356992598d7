import type { TxId } from '../../../src/domain/ids.js'
import { ascending, trimGaps, without } from './lane-nonces.js'
import type { DraftEvent } from './messages.js'
import {
  type AccountDraft,
  type AccountState,
  type DraftEntry,
  draftEntry,
  laneOf,
  type NonceLane,
} from './state.js'

type Of<T extends DraftEvent['type']> = Extract<DraftEvent, { type: T }>

/** Folds events of drafts, in place. */
export function evolveDraft(state: AccountState, event: DraftEvent): void {
  switch (event.type) {
    case 'released':
      forgetDraft(state, event.txId)
      return
    case 'queued':
      queued(state, event)
      return
    case 'lined-up':
      linedUp(state, event)
      return
    case 'nonce-assigned':
      nonceAssigned(state, event)
      return
    case 'signature-held': {
      const entry = draftOf(state, event.txId)
      entry.phase = 'held'
      entry.signed = event.signed
      return
    }
    case 'signature-failed':
      signatureFailed(state, event)
      return
    case 'lane-resequenced':
      resequenced(state, laneOf(state, event.chainId))
      return
  }
}

/** @param phase `queued` puts the draft at the end of its lane's queue */
export function foldDraft(
  state: AccountState,
  draft: AccountDraft,
  phase: 'screening' | 'queued',
): void {
  state.drafts.set(draft.txId, draftEntry(draft, phase))
  if (phase === 'queued') laneOf(state, draft.call.chainId).queued.push(draft.txId)
}

export function forgetDraft(state: AccountState, txId: TxId): void {
  const lane = laneOfDraft(state, txId)
  lane.queued = without(lane.queued, txId)
  lane.line = without(lane.line, txId)
  lane.signing = without(lane.signing, txId)
  lane.filling = without(lane.filling, txId)
  state.drafts.delete(txId)
}

function queued(state: AccountState, { txId, screenedAgainst }: Of<'queued'>): void {
  const entry = draftOf(state, txId)
  entry.phase = 'queued'
  entry.screenedAgainst = screenedAgainst
  const lane = laneOfDraft(state, txId)
  lane.line = without(lane.line, txId)
  lane.queued.push(txId)
}

function linedUp(state: AccountState, { txId, first }: Of<'lined-up'>): void {
  draftOf(state, txId).phase = 'screening'
  const lane = laneOfDraft(state, txId)
  lane.queued = without(lane.queued, txId)
  lane.line = first ? [txId, ...lane.line] : [...lane.line, txId]
}

function nonceAssigned(state: AccountState, event: Of<'nonce-assigned'>): void {
  const { txId, nonce, replaces } = event
  const entry = draftOf(state, txId)
  const lane = laneOfDraft(state, txId)
  const again = entry.phase === 'signing'
  entry.phase = 'signing'
  entry.nonce = nonce
  entry.replaces = replaces
  if (again) return
  lane.queued = without(lane.queued, txId)
  if (lane.nextNonce !== null && nonce < lane.nextNonce) {
    lane.gaps = lane.gaps.filter((gap) => gap !== nonce)
    lane.filling.push(txId)
  } else lane.signing.push(txId)
}

function signatureFailed(state: AccountState, { txId, fault }: Of<'signature-failed'>): void {
  const entry = draftOf(state, txId)
  entry.phase = 'failed'
  entry.fault = fault
  const lane = laneOfDraft(state, txId)
  if (lane.filling.includes(txId)) {
    lane.filling = without(lane.filling, txId)
    lane.gaps = ascending([...lane.gaps, entry.nonce])
    trimGaps(lane)
  } else lane.sequence = 'draining'
}

function resequenced(state: AccountState, lane: NonceLane): void {
  for (const txId of lane.signing) {
    const entry = draftOf(state, txId)
    entry.phase = 'queued'
    entry.signed = null
  }
  lane.queued = [...lane.signing, ...lane.queued]
  lane.signing = []
  lane.sequence = 'steady'
  trimGaps(lane)
}

function draftOf(state: AccountState, txId: TxId): DraftEntry {
  const entry = state.drafts.get(txId)
  if (entry === undefined) throw new Error(`${txId} is not a draft`)
  return entry
}

function laneOfDraft(state: AccountState, txId: TxId): NonceLane {
  return laneOf(state, draftOf(state, txId).draft.call.chainId)
}
