import type { NewEvent } from '../domain/event.js'
import type { TxId } from '../domain/ids.js'
import type { Transaction } from '../domain/transaction.js'
import { transactionView } from './transaction-view.js'

/**
 * The `data` object of an event, which stays the same whatever happens later.
 * @throws Error if the event's transaction is not in the store
 */
export function eventData(
  { eventId, data, moment }: Pick<NewEvent, 'eventId' | 'data' | 'moment'>,
  transactionOf: (id: TxId) => Transaction | undefined,
): Readonly<Record<string, unknown>> {
  if (moment === undefined) {
    if (data === null) throw new Error(`${eventId} has no data`)
    return data
  }
  const { txId, attemptCount, ...then } = moment
  const tx = transactionOf(txId)
  if (tx === undefined) throw new Error(`${eventId} belongs to ${txId}, which is not in the store`)
  const attempts = tx.attempts.slice(0, attemptCount)
  return transactionView({ ...tx, ...then, attempts }, null)
}
