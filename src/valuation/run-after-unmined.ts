import type { ChainAccess } from '../chains/access.js'
import type { Simulation, StateAfter } from '../chains/simulate/simulation.js'
import type { TxId } from '../domain/ids.js'
import { fault } from '../errors/fault.js'
import type { CallQuote, QuotedCall } from './quoter.js'

export interface Run {
  /** Null when no node can simulate it there. */
  readonly simulation: Simulation | null
  /** Why it could not be simulated, when that is temporary. */
  readonly refusal: CallQuote | null
  readonly after: readonly TxId[]
  /** The state that it was simulated on; null for the newest block. */
  readonly state: StateAfter | null
}

/**
 * The most calls that are simulated before another one. It is twice what a lane has in flight; geth
 * simulates at most 50 million gas, and a third of that is for the call itself.
 */
const EARLIER_CALLS_MAX = 32
const TOO_MANY = 'Too many calls of this wallet wait for a block; try again once some are mined.'
const NOT_AFTER =
  'No endpoint of this chain can simulate the call after the waiting calls of this wallet; try again once they are mined.'
const NONE: readonly TxId[] = []

/**
 * Simulates a call after the wallet's own calls that are not mined, all on one block: the nonce
 * there shows which calls that block already has, so that they do not run twice. Spec silent: when
 * no endpoint can simulate several calls in sequence (only `debug_traceCall`), such a call is
 * refused until those before it are mined.
 */
export async function runAfterUnmined(chain: ChainAccess, call: QuotedCall): Promise<Run> {
  const known = call.unmined?.() ?? []
  if (known.length === 0) {
    return {
      simulation: await chain.simulator.simulate(call),
      refusal: null,
      after: NONE,
      state: null,
    }
  }
  const after = known.map(({ txId }) => txId)
  const [newest, { head }] = await Promise.all([chain.reads.block('latest'), chain.fees.quote()])
  const block = Math.max(newest?.number ?? 0, head.number)
  const nonce = await chain.reads.transactionCount(call.from, block)
  const earlier = known.filter((it) => it.nonce === null || it.nonce >= nonce)
  if (earlier.length > EARLIER_CALLS_MAX) {
    const details = { unmined_calls_max: EARLIER_CALLS_MAX }
    const refusal = { ok: false, fault: fault('OVERLOADED', details, TOO_MANY) } as const
    return { simulation: null, refusal, after, state: null }
  }
  const simulation = await chain.simulator.simulate(call, { block, earlier })
  const state = earlier.length === 0 ? null : { from: call.from, block, earlier }
  if (simulation !== null || state === null) return { simulation, refusal: null, after, state }
  const why = fault('CHAIN_UNAVAILABLE', { chain_id: call.chainId }, NOT_AFTER)
  return { simulation: null, refusal: { ok: false, fault: why }, after, state: null }
}
