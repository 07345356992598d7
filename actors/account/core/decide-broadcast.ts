import { type Fault, fault } from '../../../src/errors/fault.js'
import { answerSigned, dropTransaction, pumpFlight } from './flight.js'
import type { AccountCommand } from './messages.js'
import { pumpSigning } from './signing.js'
import { laneOf, type NonceLane, type OpenEntry } from './state.js'
import type { AccountTurn } from './turn.js'

type Of<T extends AccountCommand['type']> = Extract<AccountCommand, { type: T }>

/** What a node said of bytes that it was given. */
export function broadcastAnswered(turn: AccountTurn, command: Of<'broadcast-outcome'>): void {
  const { txId, outcome, nowMs, blockNumber } = command
  const entry = turn.state.open.get(txId)
  if (entry === undefined || entry.tx.mined !== null) return
  if (entry.tx.attempts.at(-1)?.txHash !== command.txHash) return
  // Those bytes are given up; another answer about them must not have it signed a second time.
  if (entry.flight === 'nonce-lost') return
  const lane = laneOf(turn.state, entry.tx.call.chainId)
  switch (outcome.kind) {
    case 'accepted': {
      const { token } = entry
      if (entry.tx.status === 'signed') {
        turn.emit({ type: 'transaction-broadcast', txId, blockNumber, atMs: nowMs })
      } else turn.emit({ type: 'sent-again', txId, blockNumber, atMs: nowMs })
      if (token === null) return
      // The signed bytes are stored and a node has them. A crash before that is stored as well
      // sends the same bytes again, and shows the transaction as `signed` until then.
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
      if (!believed(entry, outcome.fault)) {
        turn.emit({ type: 'refusal-disputed', txId })
        answerSigned(turn, entry)
        return
      }
      dropTransaction(turn, txId, outcome.fault, 'nonce-free')
      turn.refuseCall(token, outcome.fault, tx)
      break
    }
    case 'nonce-lost':
      // A signature of before that is not heard of yet holds its place in the lane.
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

/** Verdicts that follow from the bytes alone, so that no node can ever have thought otherwise of them. */
const REFUSED_BY_EVERY_NODE: ReadonlySet<unknown> = new Set(['intrinsic-gas', 'invalid'])

/**
 * A refusal ends a transaction only while none of its bytes can be in any pool. Otherwise they may
 * land anyway, besides whatever took the nonce or the money over: it is sent again, then
 * cancelled at its own nonce, and the chain decides.
 */
function believed({ tx, maybeBroadcast }: OpenEntry, { details }: Fault): boolean {
  if (!maybeBroadcast) return true
  // A cancellation is another call: what its bytes are says nothing of those before.
  if (tx.attempts.at(-1)?.cancels === true) return false
  return tx.status === 'signed' && REFUSED_BY_EVERY_NODE.has(details.reason)
}

/** Proofs in a row: a minute or more of blocks on which nodes agree, after a reorg. */
const LOSSES_TO_BELIEVE = 32

/**
 * Its nonce went to a transaction that is none of ours, so these bytes can never land: it is
 * signed again at a new nonce, as far as its owner may.
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
