import { foldDraft } from './evolve-drafts.js'
import { without } from './lane-nonces.js'
import type { FlightEvent } from './messages.js'
import { type AccountState, laneOf, type OpenEntry, openOf } from './state.js'

/** Folds how far transactions have come with the nodes, in place. */
export function evolveFlight(state: AccountState, event: FlightEvent): void {
  if (event.type === 'final-block') {
    laneOf(state, event.chainId).finalBlock = event.finalBlock
    return
  }
  if (event.type === 'reading-end') {
    if (event.on) state.endsRead.add(event.txId)
    else state.endsRead.delete(event.txId)
    return
  }
  const entry = openOf(state, event.txId)
  switch (event.type) {
    case 'sending':
    case 'underpriced':
      entry.flight = event.type
      return
    case 'indeterminate':
      entry.flight = 'indeterminate'
      entry.maybeBroadcast ||= event.maybeBroadcast
      return
    case 'refusal-disputed':
      entry.flight = 'indeterminate'
      entry.refusals++
      return
    case 'loss-disputed':
      entry.flight = 'indeterminate'
      entry.maybeBroadcast = true
      entry.losses++
      return
    case 'sent-again':
      taken(entry, event)
      return
    case 'ages-from':
      agesFrom(entry, event.blockNumber)
      return
    case 'nonce-lost':
      lost(state, entry, event)
      return
    case 'answered':
      entry.token = null
      return
    case 'replacing':
      entry.replacing = event.on
      return
  }
}

/** Notes that a node has the newest bytes. */
export function taken(
  entry: OpenEntry,
  { blockNumber, atMs }: { readonly blockNumber: number | null; readonly atMs: number },
): void {
  entry.flight = 'sent'
  entry.maybeBroadcast = true
  entry.refusals = 0
  entry.losses = 0
  if (entry.sentAtBlock === null) entry.sentAtMs = atMs
  entry.sentAtBlock ??= blockNumber
  entry.takenAtBlock = blockNumber ?? entry.takenAtBlock
  entry.takenAtMs = atMs
}

function agesFrom(entry: OpenEntry, blockNumber: number): void {
  entry.sentAtBlock = blockNumber
  entry.takenAtBlock = Math.min(entry.takenAtBlock ?? blockNumber, blockNumber)
}

function lost(
  state: AccountState,
  entry: OpenEntry,
  { txId, draft }: Extract<FlightEvent, { type: 'nonce-lost' }>,
): void {
  const lane = laneOf(state, entry.tx.call.chainId)
  entry.flight = 'nonce-lost'
  lane.flight = without(lane.flight, txId)
  foldDraft(state, draft, 'queued')
}
