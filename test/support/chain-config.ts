import type { ChainConfig } from '../../src/config/chains.js'
import type { ChainId } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'

const NOWHERE: Address = '0x1111111111111111111111111111111111111111'

/** A chain's configuration for tests. Every field can be set; the others have harmless values. */
export function chainConfig(id: ChainId, said: Partial<ChainConfig> = {}): ChainConfig {
  return {
    id,
    name: `Chain ${id}`,
    native_symbol: 'ETH',
    rpc_urls: ['http://127.0.0.1:1'],
    confirmations: 1,
    block_time_ms: 1_000,
    max_fee_per_gas_ceiling_wei: '1000000000000',
    wrapped_native: NOWHERE,
    native_feed: { address: NOWHERE, max_age_seconds: 3_600 },
    sequencer_uptime_feed: null,
    router: null,
    delegate: null,
    swap: null,
    tokens: [],
    markets: [],
    ...said,
  }
}
