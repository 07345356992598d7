import { transactionView } from '../../api/transaction-view.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'

export function listTransactions({
  reader,
  headOf,
}: OperationPorts): ConsoleHandlers['list_transactions'] {
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.transactions.ofUser(
      userId,
      pageOptions(input),
      (tx) =>
        (input.sub_wallet_id === undefined || tx.subWalletId === input.sub_wallet_id) &&
        (input.key_id === undefined || tx.keyId === input.key_id) &&
        (input.chain_id === undefined || tx.call.chainId === input.chain_id) &&
        (input.status === undefined || tx.status === input.status),
    )
    const transactions = items.map((tx) => transactionView(tx, headOf(tx.call.chainId)))
    return { ok: true, value: { transactions, next_cursor: nextCursor } }
  }
}
