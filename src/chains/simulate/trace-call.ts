import type { Address } from '../../domain/ids.js'
import { quantity, record, toQuantity } from '../hex.js'
import { parseLog } from '../receipts.js'
import { classifyCallError } from '../rpc/classify.js'
import { failed, failureOf, SIMULATED_GAS, toWireOverrides } from './common.js'
import { createMovements, type Movements } from './movements.js'
import type { SimulatedCall, Simulation, StateOverride } from './simulation.js'

/** `debug_traceCall` with the call tracer: every frame with its value and its logs. */
export const TRACE_CALL = 'debug_traceCall'

/** The most frames that are visited; a call with more is reported as truncated. */
const FRAMES_MAX = 20_000
const LOGS_MAX = 4_096

export function traceCallParams(
  call: SimulatedCall,
  block: string,
  override: StateOverride,
): readonly unknown[] {
  const { from, to, data, value } = call
  return [
    { from, to, input: data, value: toQuantity(value), gas: SIMULATED_GAS },
    block,
    {
      tracer: 'callTracer',
      tracerConfig: { withLog: true },
      stateOverrides: toWireOverrides(override),
    },
  ]
}

/** @throws RpcShapeError when the answer is not a call frame */
export function readTraceCall(
  call: SimulatedCall,
  wrappedNative: Address,
  answer: unknown,
): Simulation {
  const top = record(answer)
  const gasUsed = quantity(top.gasUsed)
  if (top.error !== undefined) {
    const kind = classifyCallError(0, typeof top.error === 'string' ? top.error : '')
    return failed(failureOf(kind), top.output, gasUsed, call)
  }
  const movements = createMovements(wrappedNative)
  const complete = walk(top, movements)
  const seen = movements.finish()
  return {
    ...seen,
    success: true,
    failure: null,
    revertReason: null,
    gasUsed,
    truncated: seen.truncated || !complete,
  }
}

/** Frames that move the value that they name; a DELEGATECALL only repeats its parent's. */
const MOVES_VALUE: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'])

/**
 * Visits frames without recursion.
 * @returns false when it gave up for size
 */
function walk(top: Readonly<Record<string, unknown>>, movements: Movements): boolean {
  const open: Readonly<Record<string, unknown>>[] = [top]
  let frames = 0
  let logs = 0
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (++frames > FRAMES_MAX) return false
    // The effects of a reverted frame, and of all frames below it, were undone.
    if (frame.error !== undefined) continue
    const { from, to } = frame
    if (typeof to === 'string') movements.touch(to)
    if (MOVES_VALUE.has(frame.type) && typeof from === 'string' && typeof to === 'string') {
      movements.native(from, to, frame.value === undefined ? 0n : quantity(frame.value))
    }
    for (const log of Array.isArray(frame.logs) ? frame.logs : []) {
      if (++logs > LOGS_MAX) return false
      movements.log(parseLog(log))
    }
    for (const child of Array.isArray(frame.calls) ? frame.calls : []) open.push(record(child))
  }
  return true
}
