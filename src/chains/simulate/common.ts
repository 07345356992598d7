import { getAddress } from 'viem/utils'
import { decodeRevertReason } from '../../contracts/revert-reason.js'
import { toQuantity } from '../hex.js'
import type { CallErrorKind } from '../rpc/classify.js'
import type { SimulatedCall, Simulation, StateOverride } from './simulation.js'

/**
 * Gas of a simulated call: the most that EIP-7825 permits a transaction, and a bound on its answer.
 */
export const SIMULATED_GAS = '0x1000000'

/** An error with an unknown text still means that the simulated call failed. */
export function failureOf(kind: CallErrorKind): 'reverted' | 'insufficient-funds' {
  return kind === 'insufficient-funds' ? kind : 'reverted'
}

/** The result of a call that would fail: only gas moves. */
export function failed(
  failure: 'reverted' | 'insufficient-funds',
  returned: unknown,
  gasUsed: bigint,
  call: SimulatedCall,
): Simulation {
  return {
    success: false,
    failure,
    revertReason:
      failure === 'insufficient-funds' ? 'insufficient funds' : decodeRevertReason(returned),
    gasUsed,
    transfers: [],
    approvals: [],
    touched: [getAddress(call.to)],
    truncated: false,
  }
}

/** State overrides in the form of geth's RPC (`eth_call`, third parameter). */
export function toWireOverrides(override: StateOverride): Record<string, Record<string, string>> {
  const wire: Record<string, Record<string, string>> = {}
  for (const [address, { balance, code }] of Object.entries(override)) {
    wire[address] = {
      ...(balance === undefined ? {} : { balance: toQuantity(balance) }),
      ...(code === undefined ? {} : { code }),
    }
  }
  return wire
}
