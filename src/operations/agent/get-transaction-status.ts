import { transactionView } from '../../api/transaction-view.js'
import type { TxId } from '../../domain/ids.js'
import { fault } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** Another sub-wallet's transaction answers like one that does not exist. */
export function getTransactionStatus({
  reader,
  headOf,
}: OperationPorts): AgentHandlers['get_transaction_status'] {
  return ({ key }, { tx_id }) => {
    const tx = reader.transaction(tx_id as TxId)
    if (tx === undefined || tx.subWalletId !== key.subWalletId) {
      return { ok: false, fault: fault('NOT_FOUND', { tx_id }) }
    }
    return { ok: true, value: transactionView(tx, headOf(tx.chainId)) }
  }
}
