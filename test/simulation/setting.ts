import type { ChainConfig } from '../../src/config/chains.js'
import type { Features } from './features.js'
import type { Draw } from './random.js'
import { CHAIN_ID, DELEGATE, ROUTER } from './swaps.js'

/** When and where a run takes place. */

/** Noon, so that no run crosses a day that is not to. */
const NOON_MS = Date.UTC(2026, 5, 15, 12)
const TURNS_MS = { day: Date.UTC(2026, 5, 16), month: Date.UTC(2026, 6, 1) }

/** Of a run in which a day or month ends, some of it lies on either side. */
export function startOf({ turn, calls, pauseMsMax }: Features, draw: Draw): number {
  if (turn === 'none') return NOON_MS
  return TURNS_MS[turn] - draw.integer(1_000 + (calls * pauseMsMax) / 2)
}

export function configOf({ nodes, confirmations, blockTimeMs }: Features): ChainConfig {
  const feed = { address: ROUTER, max_age_seconds: 86_400 }
  return {
    ...{ id: CHAIN_ID, name: 'Ethereum', native_symbol: 'ETH' },
    rpc_urls: Array.from({ length: nodes }, (_, i) => `http://node${i}/`),
    ...{ confirmations, block_time_ms: blockTimeMs },
    max_fee_per_gas_ceiling_wei: String(2_000n * 10n ** 9n),
    ...{ wrapped_native: ROUTER, native_feed: feed, sequencer_uptime_feed: null },
    ...{ router: ROUTER, delegate: DELEGATE, swap: null, tokens: [], markets: [] },
  }
}
