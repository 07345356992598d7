import type { Address } from '../../domain/ids.js'
import { quantity, record, toQuantity } from '../hex.js'
import { parseLog } from '../receipts.js'
import { classifyCallError } from '../rpc/classify.js'
import { RpcShapeError } from '../rpc/errors.js'
import { failed, SIMULATED_GAS, toWireOverrides } from './common.js'
import { createMovements } from './movements.js'
import type { SimulatedCall, Simulation, StateOverride } from './simulation.js'

/** `eth_simulateV1` with `traceTransfers`: logs of tokens, and native legs as logs of 0xeeee…. */
export const SIMULATE_V1 = 'eth_simulateV1'

/** Logs that are read; a call with more is reported as truncated. */
const LOGS_MAX = 4_096

export function simulateV1Params(
  call: SimulatedCall,
  block: string,
  override: StateOverride,
): readonly unknown[] {
  const { from, to, data, value } = call
  const step = {
    calls: [{ from, to, input: data, value: toQuantity(value), gas: SIMULATED_GAS }],
    stateOverrides: toWireOverrides(override),
  }
  return [{ blockStateCalls: [step], traceTransfers: true, validation: false }, block]
}

/** @throws RpcShapeError when the answer is not that of one simulated call */
export function readSimulateV1(
  call: SimulatedCall,
  wrappedNative: Address,
  answer: unknown,
): Simulation {
  if (!Array.isArray(answer) || answer.length !== 1) throw new RpcShapeError(SIMULATE_V1)
  const { calls } = record(answer[0])
  if (!Array.isArray(calls) || calls.length !== 1) throw new RpcShapeError(SIMULATE_V1)
  const result = record(calls[0])
  const gasUsed = quantity(result.gasUsed)
  if (quantity(result.status) !== 1n) {
    const { code, message, data } = record(result.error ?? {})
    const kind = classifyCallError(
      typeof code === 'number' ? code : 0,
      typeof message === 'string' ? message : '',
    )
    const returned = result.returnData === '0x' ? data : result.returnData
    return failed(kind === 'insufficient-funds' ? kind : 'reverted', returned, gasUsed, call)
  }
  const logs = Array.isArray(result.logs) ? result.logs : []
  const movements = createMovements(wrappedNative)
  movements.touch(call.to)
  for (const log of logs.slice(0, LOGS_MAX)) movements.log(parseLog(log))
  const seen = movements.finish()
  return {
    ...seen,
    success: true,
    failure: null,
    revertReason: null,
    gasUsed,
    truncated: seen.truncated || logs.length > LOGS_MAX,
  }
}
