import { intentDeadlineOf } from '../../src/contracts/router-intent.js'
import type { TxId } from '../../src/domain/ids.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import { isFinal, wasGivenUp } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { EndedCall } from './core/sponsored-messages.js'

/**
 * Returns a sponsored call that has ended and was mined, or was given up after a gas wallet had signed
 * it; null for all others. Only such a call can be in flight again.
 */
export function endedCall({ transactions }: Reader, txId: TxId): EndedCall | null {
  const tx = transactions.byId(txId)
  if (tx === undefined || !isSponsored(tx.kind)) return null
  if (!isFinal(tx.status) || (tx.mined === null && !wasGivenUp(tx))) return null
  return { tx, deadlineSeconds: intentDeadlineOf(tx.call.data) }
}
