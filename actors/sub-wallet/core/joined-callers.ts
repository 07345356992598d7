import type { KeyId, TxId } from '../../../src/domain/ids.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { Sent } from './sent.js'
import type { SponsoredEvent } from './sponsored-messages.js'
import type { JoinedCaller } from './sponsored-state.js'
import type { SubWalletState } from './state.js'

/**
 * A quote is executed once. A second execution that comes while the first has no answer yet waits
 * for the first one's record, and gets it as a replay.
 */

/** The part of a decision that these functions need; `Turn` provides it. */
interface JoinedTurn {
  readonly state: SubWalletState
  emit(event: SponsoredEvent): void
  answer(token: ReplyToken, value: Sent): void
  refuse(token: ReplyToken, fault: Fault): void
}

/** Callers that may wait for one call; more of them hear IDEMPOTENCY_IN_PROGRESS and ask again. */
export const JOINED_MAX = 32

/** @returns false where the caller cannot wait for that call */
export function joinCall(turn: JoinedTurn, txId: TxId, caller: JoinedCaller): boolean {
  const { sponsored, joined } = turn.state
  if (!sponsored.has(txId) || (joined.get(txId)?.length ?? 0) >= JOINED_MAX) return false
  turn.emit({ type: 'sponsored-joined', txId, caller })
  return true
}

/** Ends the wait for a call that was answered with its record. */
export function answerJoined(turn: JoinedTurn, { tx }: Sent): void {
  const callers = takeJoined(turn, tx.txId)
  for (const { token } of callers) turn.answer(token, new Sent(tx, true))
}

/** Ends the wait for a call that was refused: the quote has not been executed. */
export function refuseJoined(turn: JoinedTurn, txId: TxId, keyId: KeyId | null, why: Fault): void {
  for (const caller of takeJoined(turn, txId)) {
    turn.refuse(caller.token, caller.keyId === keyId ? why : inProgress(txId))
  }
}

/** To be called last: nobody waits for a call that is no longer under way. */
export function endJoined(turn: JoinedTurn): void {
  const { joined, sponsored } = turn.state
  for (const txId of joined.keys()) {
    if (!sponsored.has(txId)) refuseJoined(turn, txId, null, inProgress(txId))
  }
}

/** Asked again, the caller hears what became of the call, or executes the quote itself. */
export function inProgress(txId: TxId): Fault {
  return fault('IDEMPOTENCY_IN_PROGRESS', { tx_id: txId })
}

function takeJoined(turn: JoinedTurn, txId: TxId): readonly JoinedCaller[] {
  const callers = turn.state.joined.get(txId)
  if (callers === undefined) return []
  turn.emit({ type: 'sponsored-joined-answered', txId })
  return callers
}
