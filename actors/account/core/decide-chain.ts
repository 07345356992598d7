import { nonceOfRaw } from '../../../src/domain/raw-nonce.js'
import {
  type AccountTransaction,
  isCancelledBy,
  isFinal,
  type MinedIn,
  wasGivenUp,
} from '../../../src/domain/transaction.js'
import { pumpFlight } from './flight.js'
import type { AccountCommand, Ending, EndReadCommand, UnminedCommand } from './messages.js'
import { pumpSigning, stopSigningAgain } from './signing.js'
import { laneOf } from './state.js'
import type { AccountTurn } from './turn.js'

type Of<T extends AccountCommand['type']> = Extract<AccountCommand, { type: T }>

/** Step 6 of the lifecycle: handles what the chain reports about stored transactions. */
export function mined(turn: AccountTurn, command: Of<'mined'>): void {
  const entry = turn.state.open.get(command.txId)
  if (entry === undefined) return
  const { token } = entry
  const { txId, mined: minedIn, nowMs } = command
  const { nonce } = entry.tx
  const { chainId } = entry.tx.call
  const landedAt = nonceOf(entry.tx, minedIn)
  if (entry.tx.status === 'signed') {
    // The block arrived before the node's answer.
    const { blockNumber } = minedIn
    turn.emit({ type: 'transaction-broadcast', txId, blockNumber, atMs: nowMs })
  }
  turn.emit({ type: 'transaction-mined', txId, mined: minedIn, nonce: landedAt, atMs: nowMs })
  // A reorg had taken the transaction back and it is mined at its first nonce again: the nonce that
  // it was given since is free or has to be closed, so that the call is not mined there too.
  if (landedAt !== nonce) turn.emit({ type: 'gaps-found', chainId, nonces: [nonce] })
  if (token !== null) {
    turn.answerSent(token, entry.tx, null)
    turn.emit({ type: 'answered', txId })
  }
  const lane = laneOf(turn.state, chainId)
  stopSigningAgain(turn, txId, nowMs)
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}

/** Bytes that were signed before a nonce was lost have another nonce than the newest. */
function nonceOf({ attempts, nonce }: AccountTransaction, { txHash }: MinedIn): number {
  if (attempts.length === 1 || attempts.at(-1)?.txHash === txHash) return nonce
  const landed = attempts.find((attempt) => attempt.txHash === txHash)
  return (landed === undefined ? null : nonceOfRaw(landed.rawTransaction)) ?? nonce
}

/** Handles a transaction that is deep enough to count as confirmed. */
export function confirmed(turn: AccountTurn, command: Of<'confirmed'>): void {
  const entry = turn.state.open.get(command.txId)
  if (entry === undefined) return
  if (entry.tx.mined?.blockHash !== command.mined.blockHash) {
    mined(turn, { ...command, type: 'mined' })
  }
  turn.end(entry.tx, command.mined, endingOf(entry.tx, command.mined, command.nowMs))
}

const GIVEN_UP = {
  code: 'CHAIN_REJECTED',
  message: 'The transaction was cancelled: nothing was sent, and its nonce is used up.',
} as const
const REVERTED = {
  code: 'EXECUTION_REVERTED',
  message: 'The transaction was mined and reverted.',
} as const

function endingOf(tx: AccountTransaction, mined: MinedIn, atMs: number): Ending {
  if (isCancelledBy(tx, mined)) {
    return { status: 'dropped', error: GIVEN_UP, nonceFreed: false, givenUpAt: null, atMs }
  }
  const reverted = mined.outcome !== 'success'
  return {
    status: reverted ? 'failed' : 'confirmed',
    error: reverted ? REVERTED : null,
    nonceFreed: false,
    givenUpAt: null,
    atMs,
  }
}

/**
 * Handles a reorg that removed a transaction's block. For an ended transaction the record is read
 * each time: the commit of a later end may not be on disk yet, in which case the record shows an
 * earlier end.
 */
export function unmined(turn: AccountTurn, { txId, nowMs }: UnminedCommand): void {
  const entry = turn.state.open.get(txId)
  if (entry !== undefined) {
    if (entry.tx.mined !== null) turn.emit({ type: 'transaction-unmined', txId, atMs: nowMs })
    return
  }
  // With two reads, the second answer could arrive after the first had reopened the transaction,
  // and end it again.
  if (turn.state.endsRead.has(txId)) return
  turn.emit({ type: 'reading-end', txId, on: true })
  turn.effect({ type: 'read-end', txId })
}

/** @returns the record that the owner takes up again, or null when there is nothing to take up */
export function endRead<Tx extends AccountTransaction>(
  turn: AccountTurn,
  { txId, stored }: EndReadCommand<Tx>,
): Tx | null {
  turn.emit({ type: 'reading-end', txId, on: false })
  if (stored === null || !isFinal(stored.status)) return null
  if (stored.mined === null && !wasGivenUp(stored)) return null
  return turn.state.open.has(txId) ? null : stored
}

export function replaced(
  turn: AccountTurn,
  command: Of<'replacement-signed'> | Of<'replacement-failed'>,
): void {
  const { txId } = command
  const entry = turn.state.open.get(txId)
  if (entry === undefined) return
  const { tx, flight } = entry
  const { finalBlock } = laneOf(turn.state, tx.call.chainId)
  const settled = tx.mined !== null || flight === 'nonce-lost'
  if (settled || (command.type === 'replacement-signed' && command.nonce !== tx.nonce)) {
    turn.emit({ type: 'replacing', txId, on: false })
    return
  }
  if (command.type === 'replacement-failed' || !turn.mayReplace(tx, command)) {
    turn.emit({ type: 'replacing', txId, on: false })
    if (flight === 'sending') return
    // Ceiling or cap leave no room, or the quorum is unavailable: the bytes already sent have to
    // suffice, once fees have fallen.
    turn.emit({ type: 'sending', txId })
    turn.effect({ type: 'broadcast', tx, reach: 'all-nodes', finalBlock })
    return
  }
  const { fees, signed, purpose } = command
  turn.emit({ type: 'transaction-replaced', txId, purpose, fees, signed })
  turn.effect({ type: 'watch', tx: entry.tx })
  turn.effect({ type: 'broadcast', tx: entry.tx, reach: 'first-node', finalBlock })
}
