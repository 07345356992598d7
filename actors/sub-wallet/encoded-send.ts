import type { Call } from '../../src/domain/call.js'
import type { SendCommand } from './core/messages.js'

/**
 * A send on its way to the thread of its wallet. A list crosses threads for half of what an object
 * with as many names does, most of which the actor's thread would pay. So the call is flat here.
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
]

export function encodeSend(command: SendCommand): EncodedSend {
  const { type, txId, requestId, keyId, kind, call, proofKey, idempotency } = command
  const { chainId, to, value, data } = call
  return [type, txId, requestId, keyId, kind, chainId, to, value, data, proofKey, idempotency]
}

/** The command as it was before it was carried; one that was not carried is given back. */
export function decodeCommand(command: unknown): unknown {
  if (!Array.isArray(command) || command[0] !== 'send') return command
  const [type, txId, requestId, keyId, kind, chainId, to, value, data, proofKey, idempotency] =
    command as unknown as EncodedSend
  const send: SendCommand = {
    type,
    txId,
    requestId,
    keyId,
    kind,
    call: { chainId, to, value, data },
    proofKey,
    idempotency,
  }
  return send
}
