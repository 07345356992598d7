import type { ConsoleInput } from '../../api/console-operations.js'
import { transactionView } from '../../api/transaction-view.js'
import { type Address, type Hex, ID_PREFIX, type TxId } from '../../domain/ids.js'
import { isWanted, type TransactionFilter } from '../../domain/transaction-filter.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'

type ListInput = ConsoleInput<'list_transactions'>

export function listTransactions({
  reader,
  headOf,
}: OperationPorts): ConsoleHandlers['list_transactions'] {
  return ({ userId }, input) => {
    const filter = filterOf(input)
    const { search } = input
    if (search?.startsWith(ID_PREFIX.tx) === true) {
      const tx = reader.transactions.byId(search as TxId)
      const isFound = tx?.userId === userId && isWanted(tx, filter)
      const transactions = isFound ? [transactionView(tx, headOf(tx.call.chainId))] : []
      return { ok: true, value: { transactions, next_cursor: null } }
    }
    const page = reader.transactions.search(userId, pageOptions(input), filter)
    const { items, nextCursor } = page
    const transactions = items.map((tx) => transactionView(tx, headOf(tx.call.chainId)))
    return { ok: true, value: { transactions, next_cursor: nextCursor } }
  }
}

const HASH_CHARS = 66

function filterOf({ search = '', ...input }: ListInput): TransactionFilter {
  const { sub_wallet_id: subWalletId, key_id: keyId, chain_id: chainId, kind, status } = input
  const named = { subWalletId, keyId, chainId, kind, status }
  if (!search.startsWith('0x')) return named
  const hex = search.toLowerCase()
  return hex.length === HASH_CHARS
    ? { ...named, txHash: hex as Hex }
    : { ...named, address: hex as Address }
}
