import type { TxId } from '../../../src/domain/ids.js'
import type { Fault } from '../../../src/errors/fault.js'
import { laneOf, type NonceLane, type OpenEntry } from './state.js'
import type { AccountTurn } from './turn.js'

/** Follows stored transactions on their way to a block. */

/**
 * Broadcasts stored transactions in nonce order, as far as the window allows. Callers whose
 * transaction has to wait are told that it is signed.
 */
export function pumpFlight(turn: AccountTurn, lane: NonceLane): void {
  let places = lane.window
  let ahead: TxId | null = null
  for (const txId of [...lane.flight]) {
    const entry = turn.state.open.get(txId)
    if (entry === undefined) throw new Error(`${txId} is in flight but not open`)
    if (entry.flight === 'waiting') {
      if (places > 0) {
        turn.emit({ type: 'sending', txId })
        const { finalBlock } = lane
        turn.effect({ type: 'broadcast', tx: entry.tx, reach: 'first-node', finalBlock })
      } else answerSigned(turn, entry, ahead)
    }
    places--
    ahead = txId
  }
}

/**
 * Answers `202`: signed and stored; the service keeps trying.
 * @param queuedBehind the transaction that it waits for; null when it waits only for a node
 */
export function answerSigned(
  turn: AccountTurn,
  { tx, token }: OpenEntry,
  queuedBehind: TxId | null = null,
): void {
  if (token === null) return
  turn.answerSent(token, tx, queuedBehind)
  turn.emit({ type: 'answered', txId: tx.txId })
}

/** Ends a transaction that the chain will never take. */
export function dropTransaction(
  turn: AccountTurn,
  txId: TxId,
  why: Fault,
  nonce: 'nonce-free' | 'nonce-spent',
): void {
  const tx = turn.state.open.get(txId)?.tx
  if (tx === undefined) throw new Error(`${txId} is not open`)
  const { finalBlock } = laneOf(turn.state, tx.call.chainId)
  const height = nonce === 'nonce-spent' ? (finalBlock?.blockNumber ?? null) : null
  turn.effect(height === null ? { type: 'unwatch', tx } : { type: 'give-up', tx, height })
  turn.end(tx, null, {
    status: 'dropped',
    error: { code: why.code, message: why.message },
    nonceFreed: nonce === 'nonce-free',
    givenUpAt: height,
    atMs: tx.updatedAtMs,
  })
}
