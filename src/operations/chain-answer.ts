import type { ChainAccess } from '../chains/access.js'
import { type Fault, FaultError, fault } from '../errors/fault.js'
import type { Answer } from './context.js'
import type { OperationPorts } from './ports.js'

/** Runs a read of one chain and turns its errors into faults. */
export async function answerFromChain<T>(
  { chains }: OperationPorts,
  chainId: number,
  read: (chain: ChainAccess) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const chain = chains.get(chainId)
  if (chain === undefined) {
    return { ok: false, fault: fault('CHAIN_NOT_ALLOWED', { chain_id: chainId }) }
  }
  try {
    return await read(chain)
  } catch (error) {
    return { ok: false, fault: chainFault(error, chainId) }
  }
}

function chainFault(error: unknown, chainId: number): Fault {
  if (error instanceof FaultError) return error.fault
  const why = error instanceof Error ? error.message : 'the chain did not answer'
  return fault('CHAIN_UNAVAILABLE', { chain_id: chainId }, undefined, why)
}
