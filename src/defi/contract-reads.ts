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

/** Calls contracts by their ABI. Calls made in one tick share a request. */
export interface ContractReads {
  /**
   * Null when the call reverts or the contract's answer does not match the ABI.
   * @param to an address with code: configured, or named by such a contract
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

/** @param isCallError tells a node's answer about the call from a failure to answer */
export function createContractReads(
  isCallError: (error: unknown) => error is CallError,
): ContractReads {
  return {
    async read(chain, to, abi, functionName, args) {
      // The caller's types have checked name and arguments against the ABI.
      const call: { abi: Abi; functionName: string; args: readonly unknown[] } = {
        abi,
        functionName,
        args: args as readonly unknown[],
      }
      const params = [{ to, data: encodeFunctionData(call) }, 'latest']
      const [answer] = await chain.rpc.batch([{ method: 'eth_call', params, hasCode: true }])
      if (answer === undefined) throw new Error('a batch of one has no answer')
      if (!answer.ok) {
        if (isCallError(answer.error)) return null
        throw answer.error
      }
      try {
        return decodeFunctionResult({ ...call, data: answer.value as Hex }) as never
      } catch {
        // That address has no code, or another contract.
        return null
      }
    },
  }
}
