import { subWalletAddress } from '../../../actors/addresses.js'
import type { AskResult } from '../../../actors/runtime/actor.js'
import type { SendCommand } from '../../../actors/sub-wallet/core/messages.js'
import { encodeSend } from '../../../actors/sub-wallet/encoded-send.js'
import { decodeSendReply, type EncodedSendReply } from '../../../actors/sub-wallet/send-reply.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { TransactionView } from '../../api/transaction.js'
import { type Hex, ID_PREFIX, type TxId } from '../../domain/ids.js'
import { refuse } from '../../errors/fault.js'
import { unknownCall } from '../../errors/outcome-unknown.js'
import { newId } from '../../store/new-id.js'
import { burnFault } from '../burns.js'
import type { AgentHandlers, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function sendTransaction({
  actors,
  answeredSends,
  timers,
}: OperationPorts): AgentHandlers['send_transaction'] {
  return async ({ key, proofKey, requestId, idempotency, guardsDuplicates }, input) => {
    const to = toChecksumAddress(input.to)
    const data = (input.data ?? '0x').toLowerCase() as Hex
    const burn = burnFault({ to, data, allowBurn: input.allow_burn === true })
    if (burn !== null) return refuse(burn)
    const command: SendCommand = {
      type: 'send',
      txId: newId<TxId>(ID_PREFIX.tx, timers),
      requestId,
      keyId: key.keyId,
      kind: 'send',
      call: {
        chainId: input.chain_id,
        to,
        value: BigInt(input.value ?? '0'),
        data,
      },
      proofKey,
      idempotency,
      guardsDuplicates,
    }
    const answer = await actors.ask(subWalletAddress(key), encodeSend(command))
    if (!answer.ok) return refuse(unknownCall(answer.fault, command.txId, idempotency !== null))
    return answerOfSend(answer, answeredSends)
  }
}

/** Converts the actor's answer to a call that moves value to its wire form. */
export function answerOfSend(
  answer: AskResult<EncodedSendReply>,
  answeredSends: OperationPorts['answeredSends'],
): Answer<TransactionView> {
  if (!answer.ok) return answer
  const sent = decodeSendReply(answer.value)
  answeredSends.note(sent)
  const { status, json, replayed, signingMs } = sent
  return {
    ok: true,
    status,
    json,
    get value() {
      return JSON.parse(json) as TransactionView
    },
    ...(replayed ? { replayed } : {}),
    ...(signingMs === null ? {} : { signingMs }),
  }
}
