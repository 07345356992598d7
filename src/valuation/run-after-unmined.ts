import type { ChainAccess } from '../chains/access.js'
import type { Simulation, StateAfter } from '../chains/simulate/simulation.js'
import type { TxId } from '../domain/ids.js'
import { fault } from '../errors/fault.js'
import type { CallQuote, QuotedCall } from './quoter.js'

export interface Run {
  /** Null when no node can run it there. */
  readonly simulation: Simulation | null
  /** Why it could not be run, where that passes. */
  readonly refusal: CallQuote | null
  readonly after: readonly TxId[]
  /** What it was run upon; null where it is the newest block alone. */
  readonly state: StateAfter | null
}

/**
 * Calls that are run before another one. Twice the calls that a lane has out at a time; geth runs
 * 50 million gas at most, and a third of that is for the call itself.
 */
const EARLIER_CALLS_MAX = 32
const TOO_MANY = 'Too many calls of this wallet wait for a block; try again when some were mined.'
const NOT_AFTER =
  'No endpoint of this chain can run the call after those of this wallet that wait for a block; try again when they were mined.'
const NONE: readonly TxId[] = []

/**
 * Runs a call after the wallet's own calls that no block has: all at one block, so that what that
 * block has already is counted in the nonce there and is not run twice.
 * Spec silent: where no endpoint can run calls one after the other (`debug_traceCall` alone), such
 * a call is refused until those before it were mined.
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
