import { subWalletAddress } from '../../../actors/addresses.js'
import { transactionView } from '../../api/transaction-view.js'
import type { TxId } from '../../domain/ids.js'
import { fault } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** Another lineage's call is answered like one that does not exist. */
export function withdrawTransaction({
  reader,
  actors,
  headOf,
  nowMs,
}: OperationPorts): AgentHandlers['withdraw_transaction'] {
  return async ({ key, requestId }, { tx_id }) => {
    const txId = tx_id as TxId
    const tx = reader.fresh().transactions.byId(txId)
    if (tx?.lineageId !== key.lineageId) {
      return { ok: false, fault: fault('NOT_FOUND', { tx_id }) }
    }
    if (tx.status !== 'awaiting_approval') {
      const { status } = tx
      const why = `The transaction is ${status}. Only a call that waits for approval can be withdrawn.`
      return { ok: false, fault: fault('INVALID_REQUEST', { tx_id, status }, why) }
    }
    const { keyId } = key
    const command = { type: 'withdraw-call', txId, keyId, requestId, nowMs: nowMs() } as const
    const answer = await actors.ask(subWalletAddress(key), command)
    if (!answer.ok) return answer
    return { ok: true, value: transactionView(answer.value, headOf(tx.call.chainId)) }
  }
}
