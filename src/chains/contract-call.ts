import type { Address, Hex } from '../domain/ids.js'
import type { RpcCall, RpcClient } from './rpc/types.js'

/** A read of a contract that is known to exist: no data is not an answer. */
export function contractCall(to: Address, data: Hex): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'], hasCode: true }
}

/**
 * Makes one read of a contract that is known to exist.
 * @throws RpcCallError when it reverts; FaultError CHAIN_UNAVAILABLE when no endpoint answers
 */
export async function callContract(
  rpc: Pick<RpcClient, 'batch'>,
  to: Address,
  data: Hex,
): Promise<Hex> {
  const [answer] = await rpc.batch([contractCall(to, data)])
  if (answer?.ok === true) return answer.value as Hex
  throw answer?.error ?? new Error('a batch of one has no answer')
}
