import type { Call } from '../../src/domain/call.js'
import type { SendCommand } from './core/messages.js'

/**
 * A send on its way to the thread of its wallet. A list crosses threads for half the cost of an
 * object with as many names, most of which the actor's thread would pay. The call is therefore flat
 * here.
 */
export type EncodedSend = readonly [
  type: SendCommand['type'],
  txId: SendCommand['txId'],
  requestId: SendCommand['requestId'],
  keyId: SendCommand['keyId'],
  kind: SendCommand['kind'],
  chainId: Call['chainId'],
  to: Call['to'],
  value: Call['value'],
  data: Call['data'],
  proofKey: SendCommand['proofKey'],
  idempotency: SendCommand['idempotency'],
  guardsDuplicates: SendCommand['guardsDuplicates'],
]

export function encodeSend(command: SendCommand): EncodedSend {
  const { type, txId, requestId, keyId, kind, call, proofKey, idempotency } = command
  const { chainId, to, value, data } = call
  return [
    type,
    txId,
    requestId,
    keyId,
    kind,
    chainId,
    to,
    value,
    data,
    proofKey,
    idempotency,
    command.guardsDuplicates,
  ]
}

/** Restores the command from its encoded form; returns a command that was not encoded unchanged. */
export function decodeCommand(command: unknown): unknown {
  if (!Array.isArray(command) || command[0] !== 'send') return command
  const sent = command as unknown as EncodedSend
  const [type, txId, requestId, keyId, kind, chainId, to, value, data, proofKey] = sent
  const [, , , , , , , , , , idempotency, guardsDuplicates] = sent
  const send: SendCommand = {
    type,
    txId,
    requestId,
    keyId,
    kind,
    call: { chainId, to, value, data },
    proofKey,
    idempotency,
    guardsDuplicates,
  }
  return send
}
