import type { ChainConfig } from '../../src/config/chains.js'
import { chainFacts } from '../../src/domain/chains.js'
import type { UserId } from '../../src/domain/ids.js'
import type { Features } from './features.js'
import type { Draw } from './random.js'
import { DELEGATE, ROUTER } from './swaps.js'

/** When and where a run takes place. */

/** Noon, so that no run crosses a day that is not to. */
const NOON_MS = Date.UTC(2026, 5, 15, 12)
const TURNS_MS = { day: Date.UTC(2026, 5, 16), month: Date.UTC(2026, 6, 1) }

/** A run has the first of them. */
const SIMULATED_CHAIN_IDS = [1, 137, 10, 42161, 56, 8453] as const
export type SimulatedChainId = (typeof SIMULATED_CHAIN_IDS)[number]

const GWEI = 10n ** 9n
/** What gas costs in quiet times. */
export const BASE_FEES_WEI: Readonly<Record<SimulatedChainId, bigint>> = {
  1: 10n * GWEI,
  10: GWEI / 20n,
  56: GWEI,
  137: 30n * GWEI,
  8453: GWEI / 100n,
  42161: GWEI / 10n,
}

/** In partitions of their own, and so on other threads where there are several. */
const USER_IDS = [1, 2, 3].map((n) => `user_${String(n).padStart(26, '0')}` as UserId)

/** Of a run in which a day or month ends, some of it lies on either side. */
export function startOf({ turn, calls, pauseMsMax }: Features, draw: Draw): number {
  if (turn === 'none') return NOON_MS
  return TURNS_MS[turn] - draw.integer(1_000 + (calls * pauseMsMax) / 2)
}

export function chainIdsOf({ chains }: Features): readonly SimulatedChainId[] {
  return SIMULATED_CHAIN_IDS.slice(0, chains)
}

export function usersOf({ users }: Features): readonly UserId[] {
  return USER_IDS.slice(0, users)
}

/** The first chain is as the run's features say; others have a pace of their own. */
export function configOf(
  chainId: SimulatedChainId,
  { nodes, confirmations, blockTimeMs }: Features,
  draw: Draw,
): ChainConfig {
  const feed = { address: ROUTER, max_age_seconds: 86_400 }
  const { name, nativeSymbol } = chainFacts(chainId)
  const isFirst = chainId === SIMULATED_CHAIN_IDS[0]
  return {
    ...{ id: chainId, name, native_symbol: nativeSymbol },
    rpc_urls: Array.from({ length: nodes }, (_, i) => `http://node${i}/`),
    confirmations: isFirst ? confirmations : draw.between(1, 6),
    block_time_ms: isFirst ? blockTimeMs : draw.pick([2_000, 3_000, 8_000]),
    max_fee_per_gas_ceiling_wei: String(2_000n * GWEI),
    ...{ wrapped_native: ROUTER, native_feed: feed, sequencer_uptime_feed: null },
    ...{ router: ROUTER, delegate: DELEGATE, swap: null, tokens: [], markets: [] },
  }
}
