import { fault } from '../../../src/errors/fault.js'
import { answerSigned, dropTransaction, pumpFlight } from './flight.js'
import type { AccountCommand } from './messages.js'
import { pumpSigning } from './signing.js'
import { laneOf, type NonceLane, type OpenEntry } from './state.js'
import type { AccountTurn } from './turn.js'

type Of<T extends AccountCommand['type']> = Extract<AccountCommand, { type: T }>

/** Handles a node's answer to the bytes that it was given. */
export function broadcastAnswered(turn: AccountTurn, command: Of<'broadcast-outcome'>): void {
  const { txId, outcome, nowMs, blockNumber } = command
  const entry = turn.state.open.get(txId)
  if (entry === undefined || entry.tx.mined !== null) return
  if (entry.tx.attempts.at(-1)?.txHash !== command.txHash) return
  // Those bytes are given up; a further answer about them must not lead to a second new signature.
  if (entry.flight === 'nonce-lost') return
  const lane = laneOf(turn.state, entry.tx.call.chainId)
  switch (outcome.kind) {
    case 'accepted': {
      const { token } = entry
      if (entry.tx.status === 'signed') {
        turn.emit({ type: 'transaction-broadcast', txId, blockNumber, atMs: nowMs })
      } else turn.emit({ type: 'sent-again', txId, blockNumber, atMs: nowMs })
      if (token === null) return
      // The signed bytes are stored and a node has them. A crash before this event is stored sends
      // the same bytes again, and the transaction shows as `signed` until then.
      turn.answerPromptly(token, entry.tx)
      turn.emit({ type: 'answered', txId })
      return
    }
    case 'indeterminate':
      turn.emit({ type: 'indeterminate', txId, maybeBroadcast: outcome.maybeBroadcast })
      answerSigned(turn, entry)
      return
    case 'underpriced':
      turn.emit({ type: 'underpriced', txId })
      answerSigned(turn, entry)
      return
    case 'rejected': {
      const { token, tx } = entry
      if (entry.maybeBroadcast || tx.attempts.at(-1)?.cancels === true) {
        refusalDisputed(turn, entry)
        return
      }
      dropTransaction(turn, txId, outcome.fault, 'nonce-free')
      turn.refuseCall(token, outcome.fault, tx)
      break
    }
    case 'refused':
      refusalDisputed(turn, entry)
      return
    case 'nonce-lost':
      // A signature requested earlier is still under way and holds its place in the lane.
      if (turn.state.drafts.has(txId) || (entry.hasLanded && entry.losses < LOSSES_TO_BELIEVE)) {
        turn.emit({ type: 'loss-disputed', txId })
        answerSigned(turn, entry)
        return
      }
      signAgain(turn, entry, lane, outcome.chainNonce)
      break
  }
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}

/**
 * A refusal by itself never ends a transaction while its bytes, or those of an earlier attempt, may be
 * in a pool: they could be mined in addition to whatever took over the nonce or the money. The
 * transaction is sent again, then cancelled at its own nonce, and the chain decides.
 */
function refusalDisputed(turn: AccountTurn, entry: OpenEntry): void {
  turn.emit({ type: 'refusal-disputed', txId: entry.tx.txId })
  answerSigned(turn, entry)
}

/**
 * The proofs in a row that are needed: a minute or more of blocks on which nodes agree, after a
 * reorg.
 */
const LOSSES_TO_BELIEVE = 32

/**
 * The nonce was used by a transaction that is not ours, so these bytes can never be mined: the
 * transaction is signed again at a new nonce if its owner allows it.
 */
function signAgain(turn: AccountTurn, entry: OpenEntry, lane: NonceLane, chainNonce: number): void {
  const { tx, token } = entry
  const { txId } = tx
  const { chainId } = tx.call
  if (lane.signing.length === 0 && (lane.nextNonce ?? 0) < chainNonce) {
    const { window, nextNonce: before } = lane
    turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
  }
  const cancelled = tx.attempts.at(-1)?.cancels === true
  const draft = cancelled ? null : turn.draftAgain(entry)
  if (draft === null) {
    const why = fault(
      'CHAIN_REJECTED',
      { reason: 'nonce used from outside' },
      'The nonce of this transaction was used from outside the service; nothing was sent. Send again.',
    )
    dropTransaction(turn, txId, why, 'nonce-spent')
    turn.refuseCall(token, why, tx)
    return
  }
  turn.emit({ type: 'nonce-lost', txId, draft })
}
