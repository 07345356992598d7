import { getAddress } from 'viem/utils'
import { decodeRevertReason } from '../../contracts/revert-reason.js'
import { toQuantity } from '../hex.js'
import type { SimulatedCall, Simulation, StateOverride } from './simulation.js'

/** Gas of a simulated call: all that EIP-7825 lets a transaction have, and a bound on its answer. */
export const SIMULATED_GAS = '0x1000000'

/** A call that would fail: nothing moves but gas. */
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

/** State overrides as geth's RPC takes them (`eth_call`, third parameter). */
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
