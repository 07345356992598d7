import { isSponsored } from '../../../src/domain/sponsorship.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { OpenEntry } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { CancelCommand } from './messages.js'
import type { Turn } from './turn.js'

/**
 * Replaces the transaction with an empty self-send at the same nonce. The chain decides which of
 * the two is mined: until then the spend stays reserved and both hashes are watched. The answer is
 * the current record; when the quorum or the fee ceiling prevents the replacement, nothing changes
 * and the caller may retry.
 */
export function cancelTransaction(
  turn: Turn,
  { txId, nowMs }: CancelCommand,
  token: ReplyToken | null,
): void {
  const entry = turn.state.open.get(txId)
  const why = entry === undefined ? CANNOT.ended : whyNot(entry)
  if (entry === undefined || why !== null) {
    turn.refuse(token, why ?? CANNOT.ended)
    return
  }
  const { tx, replacing } = entry
  const cancelled = tx.attempts.at(-1)?.cancels === true
  if (!cancelled && !replacing) {
    turn.emit({ type: 'replacing', txId, on: true })
    turn.askToReplace(tx, 'cancel', nowMs)
  }
  if (replacing && !cancelled) turn.refuse(token, fault('OVERLOADED', {}, BEING_REPLACED))
  else turn.answer(token, tx)
}

const BEING_REPLACED = 'The transaction is being replaced; try again.'
const CANNOT = {
  ended: refusal('It is mined or final, or not a transaction of this wallet.'),
  sponsored: refusal('A sponsored call cannot be cancelled: its intent expires within minutes.'),
}

function whyNot({ tx, flight }: OpenEntry<Transaction>): Fault | null {
  if (isSponsored(tx.kind)) return CANNOT.sponsored
  return tx.mined === null && flight !== 'nonce-lost' ? null : CANNOT.ended
}

function refusal(message: string): Fault {
  return fault('INVALID_REQUEST', {}, message)
}
