import { isSponsored } from '../../../src/domain/sponsorship.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { OpenEntry } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { CancelCommand } from './messages.js'
import type { Turn } from './turn.js'

/**
 * Outbids it at its own nonce by sending nothing to the account itself. Which of the two lands the
 * chain decides: until then its spend stays reserved, and both hashes are watched. Answered with the
 * record as it is; where the quorum or the fee ceiling is in the way nothing changes, and it may
 * be asked for again.
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

const BEING_REPLACED = 'The transaction is being replaced just now; ask again.'
const CANNOT = {
  ended: refusal('It is final, or mined already, or no transaction of this wallet.'),
  sponsored: refusal('A sponsored call cannot be cancelled: its intent ends within minutes.'),
}

function whyNot({ tx, flight }: OpenEntry<Transaction>): Fault | null {
  if (isSponsored(tx.kind)) return CANNOT.sponsored
  return tx.mined === null && flight !== 'nonce-lost' ? null : CANNOT.ended
}

function refusal(message: string): Fault {
  return fault('INVALID_REQUEST', {}, message)
}
