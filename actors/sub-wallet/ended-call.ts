import { intentDeadlineOf } from '../../src/contracts/router-intent.js'
import type { TxId } from '../../src/domain/ids.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import { isFinal } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { EndedCall } from './core/sponsored-messages.js'

/** A sponsored call that was mined and has ended; only such a one can be in flight again. */
export function endedCall({ transactions }: Reader, txId: TxId): EndedCall | null {
  const tx = transactions.byId(txId)
  if (tx === undefined || !isSponsored(tx.kind)) return null
  if (!isFinal(tx.status) || tx.mined === null) return null
  return { tx, deadlineSeconds: intentDeadlineOf(tx.call.data) }
}
