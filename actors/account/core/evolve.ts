import type { Hex } from '../../../src/domain/ids.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import { evolveDraft, forgetDraft } from './evolve-drafts.js'
import { evolveFlight, taken } from './evolve-flight.js'
import {
  ascending,
  forgetUse,
  freeNonce,
  goOnAt,
  joinFlight,
  takeAgain,
  trimGaps,
  without,
} from './lane-nonces.js'
import type { AccountEvent, StoredEvent } from './messages.js'
import {
  type AccountState,
  laneOf,
  type OpenEntry,
  openOf,
  REFUSALS_TO_CANCEL,
  restoredEntry,
} from './state.js'

type Of<T extends StoredEvent['type']> = Extract<StoredEvent, { type: T }>

/**
 * Folds an event of the account into its state, in place: the mailbox owns the state. The fold is
 * deterministic and, with the folds below, the only code that changes an account.
 */
export function evolveAccount(state: AccountState, event: AccountEvent): void {
  switch (event.type) {
    case 'lane-synced':
      synced(state, event)
      return
    case 'gaps-found': {
      const lane = laneOf(state, event.chainId)
      lane.gaps = ascending([...lane.gaps, ...event.nonces])
      trimGaps(lane)
      return
    }
    case 'transaction-renonced':
      renonced(state, event)
      return
    case 'transaction-broadcast': {
      const entry = openOf(state, event.txId)
      taken(entry, event)
      entry.tx = { ...entry.tx, status: 'broadcast', updatedAtMs: event.atMs }
      return
    }
    case 'transaction-mined':
      mined(state, event)
      return
    case 'transaction-unmined':
      unmined(state, event)
      return
    case 'transaction-replaced':
      replaced(openOf(state, event.txId), event)
      return
    case 'released':
    case 'queued':
    case 'lined-up':
    case 'nonce-assigned':
    case 'signature-held':
    case 'signature-failed':
    case 'lane-resequenced':
      evolveDraft(state, event)
      return
    default:
      evolveFlight(state, event)
  }
}

/** Turns a draft into an open transaction when its bytes are signed. */
export function foldSigned(state: AccountState, tx: AccountTransaction): void {
  const { txId } = tx
  const token = state.drafts.get(txId)?.draft.token ?? null
  if (state.drafts.has(txId)) forgetDraft(state, txId)
  const open = restoredEntry(tx, 'waiting')
  open.maybeBroadcast = false
  open.token = token
  state.open.set(txId, open)
  const lane = joinFlight(state, open)
  lane.nextNonce = Math.max(lane.nextNonce ?? 0, tx.nonce + 1)
}

/** Puts `tx` in flight again after a reorg took back its end. */
export function foldReopened(state: AccountState, tx: AccountTransaction, atMs: number): void {
  const entry = restoredEntry<AccountTransaction>(
    {
      ...tx,
      status: 'broadcast',
      mined: null,
      error: null,
      confirmedAtMs: null,
      updatedAtMs: atMs,
    },
    'indeterminate',
  )
  entry.hasLanded = true
  // Its caller was told that nothing was sent: unless it was mined, its nonce is to be used up.
  if (tx.mined === null) entry.refusals = REFUSALS_TO_CANCEL
  state.open.set(tx.txId, entry)
  const lane = joinFlight(state, entry)
  forgetUse(state, lane, tx.nonce)
  takeAgain(lane, tx.nonce)
}

/** @param ended the record in its final form */
export function foldEnded(
  state: AccountState,
  ended: AccountTransaction,
  nonceFreed: boolean,
): void {
  const { txId, nonce } = ended
  const lane = laneOf(state, ended.call.chainId)
  lane.flight = without(lane.flight, txId)
  if (nonceFreed) freeNonce(lane, nonce)
  // The transaction is deep enough that whatever used the nonces below it stays.
  else if (ended.mined !== null) lane.gaps = lane.gaps.filter((gap) => gap > nonce)
  state.open.delete(txId)
  state.ended.set(txId, ended)
}

function synced(state: AccountState, { chainId, nextNonce, window }: Of<'lane-synced'>): void {
  const lane = laneOf(state, chainId)
  goOnAt(lane, nextNonce)
  lane.window = window
  lane.gaps = lane.gaps.filter((nonce) => nextNonce !== null && nonce < nextNonce)
}

function renonced(state: AccountState, event: Of<'transaction-renonced'>): void {
  const { txId, nonce, signed, fees } = event
  const entry = openOf(state, txId)
  forgetDraft(state, txId)
  entry.tx = {
    ...entry.tx,
    nonce,
    status: 'signed',
    attempts: [...entry.tx.attempts, { ...signed, ...fees }],
    updatedAtMs: signed.signedAtMs,
  }
  entry.flight = 'waiting'
  entry.sentAtBlock = null
  entry.maybeBroadcast = false
  const lane = joinFlight(state, entry)
  lane.nextNonce = Math.max(lane.nextNonce ?? 0, nonce + 1)
}

function mined(state: AccountState, event: Of<'transaction-mined'>): void {
  const entry = openOf(state, event.txId)
  entry.flight = 'sent'
  const { txHash } = event.mined
  const { attempts } = entry.tx
  entry.tx = {
    ...entry.tx,
    // The newest attempt is what is sent again after a reorg, so it has to be at the transaction's
    // nonce.
    ...(event.nonce === entry.tx.nonce ? {} : { attempts: lastOf(attempts, txHash) }),
    nonce: event.nonce,
    status: 'broadcast',
    mined: event.mined,
    updatedAtMs: event.atMs,
  }
  const lane = laneOf(state, entry.tx.call.chainId)
  lane.flight = without(lane.flight, event.txId)
  lane.usedBelow = Math.max(lane.usedBelow, entry.tx.nonce + 1)
}

function unmined(state: AccountState, { txId, atMs }: Of<'transaction-unmined'>): void {
  const entry = openOf(state, txId)
  entry.flight = 'indeterminate'
  entry.hasLanded = true
  entry.sentAtBlock = null
  entry.tx = { ...entry.tx, mined: null, updatedAtMs: atMs }
  forgetUse(state, joinFlight(state, entry), entry.tx.nonce)
}

function replaced(entry: OpenEntry, event: Of<'transaction-replaced'>): void {
  const bytes = { ...event.signed, ...event.fees }
  const attempt = event.purpose === 'cancel' ? ({ ...bytes, cancels: true } as const) : bytes
  entry.replacing = false
  // The answer to the previous bytes is ignored from now on, and a node may have taken them.
  entry.maybeBroadcast ||= entry.flight === 'sending'
  entry.flight = 'sending'
  entry.sentAtBlock = null
  entry.tx = {
    ...entry.tx,
    attempts: [...entry.tx.attempts, attempt],
    updatedAtMs: event.signed.signedAtMs,
  }
}

function lastOf(
  attempts: AccountTransaction['attempts'],
  txHash: Hex,
): AccountTransaction['attempts'] {
  const landed = attempts.filter((attempt) => attempt.txHash === txHash)
  return [...attempts.filter((attempt) => attempt.txHash !== txHash), ...landed]
}
