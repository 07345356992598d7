import type { Address } from '../../domain/ids.js'
import { quantity, record, toQuantity } from '../hex.js'
import { parseLog } from '../receipts.js'
import { classifyCallError } from '../rpc/classify.js'
import { RpcShapeError } from '../rpc/errors.js'
import { failed, failureOf, SIMULATED_GAS, toWireOverrides } from './common.js'
import { createMovements } from './movements.js'
import type {
  EarlierCall,
  SimulatedCall,
  Simulation,
  StateAfter,
  StateOverride,
} from './simulation.js'

/** `eth_simulateV1` with `traceTransfers`: token logs, and native transfers as logs of 0xeeee…. */
export const SIMULATE_V1 = 'eth_simulateV1'

/** The most logs that are read; a call with more is reported as truncated. */
const LOGS_MAX = 4_096

export function simulateV1Params(
  call: SimulatedCall,
  block: string,
  override: StateOverride,
  earlier: readonly EarlierCall[] = [],
): readonly unknown[] {
  const { from, to, data, value } = call
  const last = { from, to, input: data, value: toQuantity(value), gas: SIMULATED_GAS }
  const step = {
    calls: [...toWireCalls(from, earlier), last],
    stateOverrides: toWireOverrides(override),
  }
  return [{ blockStateCalls: [step], traceTransfers: true, validation: false }, block]
}

/** Reads that are answered as after other calls of an account. */
export function readsAfterParams(
  { from, block, earlier }: StateAfter,
  reads: readonly Pick<SimulatedCall, 'to' | 'data'>[],
): readonly unknown[] {
  const asked = reads.map(({ to, data }) => ({ to, input: data, gas: SIMULATED_GAS }))
  const step = { calls: [...toWireCalls(from, earlier), ...asked] }
  return [{ blockStateCalls: [step], validation: false }, toQuantity(block)]
}

function toWireCalls(from: Address, calls: readonly EarlierCall[]) {
  return calls.map(({ to, data, value, gasLimit }) => ({
    ...{ from, to, input: data },
    ...{ value: toQuantity(value), gas: toQuantity(gasLimit) },
  }))
}

/** @throws RpcShapeError when the answer does not have this many calls */
function resultsOf(answer: unknown, count: number): readonly Record<string, unknown>[] {
  if (!Array.isArray(answer) || answer.length !== 1) throw new RpcShapeError(SIMULATE_V1)
  const { calls } = record(answer[0])
  if (!Array.isArray(calls) || calls.length !== count) throw new RpcShapeError(SIMULATE_V1)
  return calls.map(record)
}

/**
 * The return data of the last `count` calls; null for those that fail.
 * @throws RpcShapeError when the answer does not have this many calls
 */
export function returnsOf(
  answer: unknown,
  earlierCount: number,
  count: number,
): readonly (string | null)[] {
  return resultsOf(answer, earlierCount + count)
    .slice(earlierCount)
    .map(({ status, returnData }) => {
      if (quantity(status) !== 1n) return null
      if (typeof returnData !== 'string') throw new RpcShapeError(SIMULATE_V1)
      return returnData
    })
}

/**
 * The effect of the last call; those before it only set the state.
 * @throws RpcShapeError when the answer does not have this many calls
 */
export function readSimulateV1(
  call: SimulatedCall,
  wrappedNative: Address,
  answer: unknown,
  earlierCount = 0,
): Simulation {
  const result = record(resultsOf(answer, earlierCount + 1).at(-1))
  const gasUsed = quantity(result.gasUsed)
  if (quantity(result.status) !== 1n) {
    const { code, message, data } = record(result.error ?? {})
    const kind = classifyCallError(
      typeof code === 'number' ? code : 0,
      typeof message === 'string' ? message : '',
    )
    const returned = result.returnData === '0x' ? data : result.returnData
    return failed(failureOf(kind), returned, gasUsed, call)
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
