import { subWalletAddress } from '../../../actors/addresses.js'
import { transactionView } from '../../api/transaction-view.js'
import type { TxId } from '../../domain/ids.js'
import { fault } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Spec silent about the route: it is next to the list that shows what may be cancelled. A console
 * token is enough, because only gas can leave the wallet, and a frozen wallet's transactions may be
 * cancelled too.
 */
export function cancelTransaction({
  reader,
  actors,
  headOf,
  nowMs,
}: OperationPorts): ConsoleHandlers['cancel_transaction'] {
  return async ({ userId }, { tx_id }) => {
    const txId = tx_id as TxId
    const tx = reader.transactions.byId(txId)
    if (tx?.userId !== userId) return { ok: false, fault: fault('NOT_FOUND', { tx_id }) }
    const command = { type: 'cancel-transaction', txId, nowMs: nowMs() } as const
    const answer = await actors.ask(subWalletAddress(tx), command)
    if (!answer.ok) return answer
    const { value } = answer
    return { ok: true, status: 202, value: transactionView(value, headOf(value.call.chainId)) }
  }
}
