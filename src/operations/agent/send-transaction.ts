import type { AskResult } from '../../../actors/runtime/actor.js'
import type { SendCommand } from '../../../actors/sub-wallet/messages.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { TransactionView } from '../../api/transaction.js'
import { transactionView } from '../../api/transaction-view.js'
import { type Hex, ID_PREFIX, type TxId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import type { ErrorCode } from '../../errors/catalogue.js'
import { fault } from '../../errors/fault.js'
import { newId } from '../../store/new-id.js'
import type { AgentHandlers, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** What the actor answers a send with. */
interface Sent {
  readonly tx: Transaction
  readonly replayed: boolean
}

export function sendTransaction({
  actors,
  answeredSends,
  headOf,
}: OperationPorts): AgentHandlers['send_transaction'] {
  return async ({ key, proofKey, requestId, idempotency }, input) => {
    const command: SendCommand = {
      type: 'send',
      txId: newId<TxId>(ID_PREFIX.tx),
      requestId,
      keyId: key.keyId,
      kind: 'send',
      chainId: input.chain_id,
      to: toChecksumAddress(input.to),
      value: BigInt(input.value ?? '0'),
      data: (input.data ?? '0x').toLowerCase() as Hex,
      proofKey,
      idempotency,
    }
    const answer = await actors.ask({ kind: 'sub-wallet', id: key.subWalletId }, command)
    if (answer.ok) answeredSends.note((answer.value as Sent).tx)
    return answerOfSend(answer, headOf)
  }
}

/** What the actor answered a call that moves value with, on the wire. */
export function answerOfSend(
  answer: AskResult,
  headOf: OperationPorts['headOf'],
): Answer<TransactionView> {
  if (!answer.ok) return answer
  const { tx, replayed } = answer.value as Sent
  if (replayed && tx.status === 'dropped' && tx.error !== null) {
    // Spec silent: whether it was refused at once, or answered `broadcast` and given up later,
    // nothing of it is out. Were it called broadcast again, its caller would wait for ever.
    const { code, message } = tx.error
    return { ok: false, fault: fault(code as ErrorCode, { tx_id: tx.txId }, message) }
  }
  const shown = replayed ? asFirstAnswered(tx) : tx
  const status = shown.status === 'signed' ? 202 : 200
  const value = transactionView(shown, headOf(tx.chainId))
  if (replayed) return { ok: true, status, value, replayed }
  // What is sponsored asks nodes before it is signed.
  const signedAtMs = tx.kind === 'send' ? tx.attempts[0]?.signedAtMs : undefined
  if (signedAtMs === undefined) return { ok: true, status, value }
  return { ok: true, status, value, signingMs: signedAtMs - tx.createdAtMs }
}

/** The first answer again: what has happened to the transaction since is for its status. */
function asFirstAnswered(tx: Transaction): Transaction {
  const first = tx.attempts[0]
  return {
    ...tx,
    status: tx.status === 'signed' ? 'signed' : 'broadcast',
    attempts: first === undefined ? tx.attempts : [first],
    spentMicros: tx.reservation.micros,
    mined: null,
    error: null,
    confirmedAtMs: null,
  }
}
