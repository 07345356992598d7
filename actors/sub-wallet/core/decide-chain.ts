import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import { nonceOfRaw } from '../../../src/domain/raw-nonce.js'
import {
  isCancelledBy,
  isFinal,
  type MinedIn,
  type Transaction,
} from '../../../src/domain/transaction.js'
import { undoCredits, useCredits } from './credits.js'
import { pumpFlight, pumpSigning, stopSigningAgain } from './decide-lane.js'
import type { Command, Event } from './messages.js'
import { reservationFor } from './replacement-spend.js'
import { Sent } from './sent.js'
import { laneOf } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** Step 6 of the lifecycle: what the chain says of stored transactions. */
export function mined(turn: Turn, command: Of<'mined'>): void {
  const entry = turn.state.open.get(command.txId)
  if (entry === undefined) return
  const { token } = entry
  const { txId, mined: minedIn, nowMs } = command
  const { chainId, nonce } = entry.tx
  const landedAt = nonceOf(entry.tx, minedIn)
  if (entry.tx.status === 'signed') {
    // The block overtook the node's answer.
    const { blockNumber } = minedIn
    turn.emit({ type: 'transaction-broadcast', txId, blockNumber, atMs: nowMs })
  }
  turn.emit({ type: 'transaction-mined', txId, mined: minedIn, nonce: landedAt, atMs: nowMs })
  // Taken back by a reorg, its first nonce came back to it: what it was given since is free, or
  // to be closed, so that the call does not land there as well.
  if (landedAt !== nonce) turn.emit({ type: 'gaps-found', chainId, nonces: [nonce] })
  if (token !== null) {
    turn.answer(token, new Sent(entry.tx, false))
    turn.emit({ type: 'answered', txId })
  }
  const lane = laneOf(turn.state, chainId)
  stopSigningAgain(turn, txId, nowMs)
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}

/** Bytes that were signed before a nonce was lost are at another one than the newest. */
function nonceOf({ attempts, nonce }: Transaction, { txHash }: MinedIn): number {
  if (attempts.length === 1 || attempts.at(-1)?.txHash === txHash) return nonce
  const landed = attempts.find((attempt) => attempt.txHash === txHash)
  return (landed === undefined ? null : nonceOfRaw(landed.rawTransaction)) ?? nonce
}

/** Deep enough: the spend settles to what really left the wallet. */
export function confirmed(turn: Turn, command: Of<'confirmed'>): void {
  const entry = turn.state.open.get(command.txId)
  if (entry === undefined) return
  if (entry.tx.mined?.blockHash !== command.mined.blockHash) {
    mined(turn, { ...command, type: 'mined' })
  }
  const { status, error } = endOf(entry.tx, command.mined)
  if (status !== 'confirmed') undoCredits(turn, entry.tx)
  turn.emit({
    type: 'transaction-ended',
    txId: command.txId,
    status,
    error,
    spentMicros: spentBy(entry.tx, command.mined),
    nonceFreed: false,
    atMs: command.nowMs,
  })
}

function endOf(
  tx: Transaction,
  mined: MinedIn,
): Pick<Extract<Event, { type: 'transaction-ended' }>, 'status' | 'error'> {
  if (isCancelledBy(tx, mined)) {
    const message = 'The chain kept refusing the transaction; its nonce was used up without it.'
    return { status: 'dropped', error: { code: 'CHAIN_REJECTED', message } }
  }
  if (mined.outcome === 'success') return { status: 'confirmed', error: null }
  const message = 'The transaction was mined and reverted.'
  return { status: 'failed', error: { code: 'EXECUTION_REVERTED', message } }
}

/** What failed, or was given up, releases its value and keeps the gas. */
function spentBy(tx: Transaction, mined: MinedIn): bigint {
  const { outcome, feeWei } = mined
  const { nativePrice, nativePriceDecimals, valueMicros } = tx.valuation
  const gasMicros = valueUsdMicros(feeWei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  return outcome === 'success' && !isCancelledBy(tx, mined) ? valueMicros + gasMicros : gasMicros
}

/** A reorg took its block away: it is in flight again, and its reservation stands again. */
export function unmined(turn: Turn, { txId, stored, nowMs, isReadAgain }: Of<'unmined'>): void {
  const entry = turn.state.open.get(txId)
  if (entry !== undefined) {
    if (entry.tx.mined !== null) turn.emit({ type: 'transaction-unmined', txId, atMs: nowMs })
    return
  }
  if (stored === null) return
  if (!isFinal(stored.status)) {
    // It has ended here: the record was read before that was on disk.
    if (isReadAgain !== true) turn.effect({ type: 'read-again', txId })
    return
  }
  if (stored.mined === null) return
  turn.emit({ type: 'transaction-reopened', tx: stored, atMs: nowMs })
  // It gave back what it had used when it failed, and may succeed now.
  if (stored.status !== 'confirmed') useCredits(turn, stored)
  const reopened = turn.state.open.get(txId)
  if (reopened !== undefined) turn.effect({ type: 'watch', tx: reopened.tx })
}

export function replaced(
  turn: Turn,
  command: Of<'replacement-signed'> | Of<'replacement-failed'>,
): void {
  const { txId } = command
  const entry = turn.state.open.get(txId)
  if (entry === undefined) return
  const { tx, flight } = entry
  const { finalBlock } = laneOf(turn.state, tx.chainId)
  const settled = tx.mined !== null || flight === 'nonce-lost'
  if (settled || (command.type === 'replacement-signed' && command.nonce !== tx.nonce)) {
    turn.emit({ type: 'replacing', txId, on: false })
    return
  }
  const reservation =
    command.type === 'replacement-failed' ? null : reservationFor(turn.state, tx, command)
  if (command.type === 'replacement-failed' || reservation === null) {
    turn.emit({ type: 'replacing', txId, on: false })
    if (flight === 'sending') return
    // No room below ceiling or cap, or no quorum: what is out has to do, once fees have fallen.
    turn.emit({ type: 'sending', txId })
    turn.effect({ type: 'broadcast', tx, reach: 'all-nodes', finalBlock })
    return
  }
  const { fees, signed, purpose } = command
  turn.emit({ type: 'transaction-replaced', txId, purpose, fees, signed, reservation })
  turn.effect({ type: 'watch', tx: entry.tx })
  turn.effect({ type: 'broadcast', tx: entry.tx, reach: 'first-node', finalBlock })
}
