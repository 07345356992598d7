import type {
  Abi,
  ContractFunctionArgs,
  ContractFunctionName,
  ContractFunctionReturnType,
} from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { ChainAccess } from '../chains/access.js'
import type { Address, Hex } from '../domain/ids.js'
import type { CallError } from './execution-gas.js'

/** Calls of contracts by their ABI. What is asked in one tick travels in one request. */
export interface ContractReads {
  /**
   * Null when the call reverts or there is no such contract.
   * @throws FaultError CHAIN_UNAVAILABLE when no node answers
   */
  read<
    const abi extends Abi,
    name extends ContractFunctionName<abi>,
    const args extends ContractFunctionArgs<abi, 'pure' | 'view' | 'nonpayable' | 'payable', name>,
  >(
    chain: Pick<ChainAccess, 'rpc'>,
    to: Address,
    abi: abi,
    functionName: name,
    args: args,
  ): Promise<ContractFunctionReturnType<
    abi,
    'pure' | 'view' | 'nonpayable' | 'payable',
    name,
    args
  > | null>
}

/** @param isCallError tells a node's answer about the call from a node that does not answer */
export function createContractReads(
  isCallError: (error: unknown) => error is CallError,
): ContractReads {
  return {
    async read(chain, to, abi, functionName, args) {
      // Name and arguments were checked against the ABI by the caller's types.
      const call: { abi: Abi; functionName: string; args: readonly unknown[] } = {
        abi,
        functionName,
        args: args as readonly unknown[],
      }
      let answer: Hex
      try {
        const data = encodeFunctionData(call)
        answer = await chain.rpc.request<Hex>('eth_call', [{ to, data }, 'latest'])
      } catch (error) {
        if (isCallError(error)) return null
        throw error
      }
      try {
        return decodeFunctionResult({ ...call, data: answer }) as never
      } catch {
        // Nothing, or something else, lives at that address.
        return null
      }
    },
  }
}
