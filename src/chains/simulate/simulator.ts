import type { Address, Hex } from '../../domain/ids.js'
import { FaultError } from '../../errors/fault.js'
import { toQuantity } from '../hex.js'
import { classifyCallError } from '../rpc/classify.js'
import { RpcCallError, RpcShapeError } from '../rpc/errors.js'
import type { RpcClient, RpcEndpoint } from '../rpc/types.js'
import { createSimulationAbilities, type SimulationAbilities } from './abilities.js'
import { failed, failureOf } from './common.js'
import {
  readSimulateV1,
  readsAfterParams,
  returnsOf,
  SIMULATE_V1,
  simulateV1Params,
} from './simulate-v1.js'
import type {
  EarlierCall,
  SimulatedCall,
  Simulation,
  SimulationMethod,
  StateAfter,
  StateOverride,
} from './simulation.js'
import { readTraceCall, TRACE_CALL, traceCallParams } from './trace-call.js'

/**
 * Simulates with what the chain's endpoints offer: `eth_simulateV1` first, else `debug_traceCall`
 * (bor has the first switched off, most public nodes the second).
 */
export interface Simulator {
  /**
   * @param block number or tag; `latest` when left out
   * @returns null when no endpoint can simulate: what the call moves is then unknown
   * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers
   */
  simulate(call: SimulatedCall, options?: SimulateOptions): Promise<Simulation | null>
  /**
   * The results of reads after other calls of an account; null for those that fail.
   * @returns null when no endpoint can tell
   * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers
   */
  readAfter(
    state: StateAfter,
    reads: readonly Pick<SimulatedCall, 'to' | 'data'>[],
  ): Promise<readonly (string | null)[] | null>
  readonly abilities: SimulationAbilities
}

interface SimulateOptions {
  readonly block?: number | 'latest' | 'pending'
  readonly override?: StateOverride
  /**
   * Simulated first, in this order. Only eth_simulateV1 can do that: without it the answer is null.
   */
  readonly earlier?: readonly EarlierCall[]
}

const METHODS: readonly SimulationMethod[] = [SIMULATE_V1, TRACE_CALL]
const NO_OVERRIDE: StateOverride = {}
const NONE: readonly EarlierCall[] = []

export function createSimulator(rpc: RpcClient, wrappedNative: Address): Simulator {
  async function run(
    mayAsk: (endpoint: RpcEndpoint) => boolean,
    method: SimulationMethod,
    call: SimulatedCall,
    block: string,
    override: StateOverride,
    earlier: readonly EarlierCall[] = NONE,
  ): Promise<Simulation> {
    if (method === SIMULATE_V1) {
      const params = simulateV1Params(call, block, override, earlier)
      const answer = await rpc.requestOf(mayAsk, method, params)
      return readSimulateV1(call, wrappedNative, answer, earlier.length)
    }
    const params = traceCallParams(call, block, override)
    return readTraceCall(call, wrappedNative, await rpc.requestOf(mayAsk, method, params))
  }

  async function works(endpoint: RpcEndpoint, method: SimulationMethod): Promise<boolean> {
    const only = ({ label }: RpcEndpoint) => label === endpoint.label
    try {
      const seen = await run(only, method, PROBE_CALL, 'latest', PROBE_OVERRIDE)
      const [transfer] = seen.transfers
      return (
        seen.success &&
        transfer?.kind === 'native' &&
        transfer.amount === PROBE_CALL.value &&
        seen.approvals.length === 1
      )
    } catch (error) {
      if (error instanceof RpcCallError || error instanceof RpcShapeError) return false
      throw error
    }
  }

  const abilities = createSimulationAbilities(rpc, { methods: METHODS, works })

  return {
    abilities,
    async readAfter(state, reads) {
      if (!(await abilities.methods()).includes(SIMULATE_V1)) return null
      const mayAsk = (endpoint: RpcEndpoint) => abilities.runs(endpoint, SIMULATE_V1)
      try {
        const answer = await rpc.requestOf(mayAsk, SIMULATE_V1, readsAfterParams(state, reads))
        return returnsOf(answer, state.earlier.length, reads.length)
      } catch (error) {
        if (!(error instanceof RpcCallError || error instanceof RpcShapeError)) throw error
        abilities.suspect()
        return null
      }
    },
    async simulate(call, options = {}) {
      const { block = 'latest', override = NO_OVERRIDE, earlier = NONE } = options
      const tag = typeof block === 'number' ? toQuantity(block) : block
      let unanswered: FaultError | null = null
      for (const method of await abilities.methods()) {
        if (earlier.length > 0 && method !== SIMULATE_V1) continue
        try {
          const mayAsk = (endpoint: RpcEndpoint) => abilities.runs(endpoint, method)
          return await run(mayAsk, method, call, tag, override, earlier)
        } catch (error) {
          if (error instanceof FaultError) {
            unanswered = error
            continue
          }
          if (error instanceof RpcCallError) {
            const kind = classifyCallError(error.code, error.message)
            if (kind !== 'refused') return failed(failureOf(kind), error.data, 0n, call)
          } else if (!(error instanceof RpcShapeError)) throw error
          abilities.suspect()
        }
      }
      if (unanswered !== null) throw unanswered
      return null
    },
  }
}

/**
 * The probe: an account sends one wei to code that logs an approval. Only an endpoint that accepts
 * state overrides and reports native transfers and logs shows both.
 */
const PROBE_FROM: Address = '0x5a5A5a5a5A5a5a5a5a5a5A5A5a5a5A5A5A5A5A5A'
const PROBE_TO: Address = '0xA5A5A5A5A5A5A5A5A5A5a5a5a5a5a5a5A5a5a5A5'
/** mstore(0, 1); log3(0, 32, Approval, caller, address) */
const PROBE_CODE: Hex =
  '0x60015f5230337f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92560205fa300'
const PROBE_CALL: SimulatedCall = { from: PROBE_FROM, to: PROBE_TO, data: '0x', value: 1n }
const PROBE_OVERRIDE: StateOverride = {
  [PROBE_FROM]: { balance: 10n ** 18n },
  [PROBE_TO]: { code: PROBE_CODE },
}
