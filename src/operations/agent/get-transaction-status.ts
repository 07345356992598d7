import type { TxId } from '../../domain/ids.js'
import { fault } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { createTransactionViews } from '../transaction-views.js'

/** Another sub-wallet's transaction is answered like one that does not exist. */
export function getTransactionStatus({
  reader,
  headOf,
}: Pick<OperationPorts, 'reader' | 'headOf'>): AgentHandlers['get_transaction_status'] {
  const views = createTransactionViews(reader, headOf)
  return ({ key }, { tx_id }) => {
    const view = views.find(tx_id as TxId, key.subWalletId)
    if (view === undefined) return { ok: false, fault: fault('NOT_FOUND', { tx_id }) }
    return { ok: true, value: view }
  }
}
