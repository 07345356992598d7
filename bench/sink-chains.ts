import type { ChainsFile } from '../src/config/chains.js'
import { SINK_CONTRACTS } from './sink/contracts.js'

/** Faster than any served chain, so that the service follows more blocks than it ever will. */
export const SINK_BLOCK_MS = 250
export const SINK_CHAIN = 8453

const FEED_AGE_SECONDS_MAX = 3_600
const TRANSFER_GAS_LIMIT = 80_000

/** `chains.json` of a service whose only chain is a sink. */
export function sinkChainsFile(rpcUrl: string): ChainsFile {
  const { wrappedNative, usdc, nativeFeed, usdcFeed } = SINK_CONTRACTS
  const feed = (address: string) => ({ address, max_age_seconds: FEED_AGE_SECONDS_MAX })
  return {
    chains: [
      {
        id: SINK_CHAIN,
        name: 'Sink',
        native_symbol: 'ETH',
        rpc_urls: [rpcUrl],
        confirmations: 1,
        block_time_ms: SINK_BLOCK_MS,
        max_fee_per_gas_ceiling_wei: '1000000000000',
        wrapped_native: wrappedNative,
        native_feed: feed(nativeFeed),
        sequencer_uptime_feed: null,
        router: null,
        delegate: null,
        swap: null,
        tokens: [
          {
            address: usdc,
            symbol: 'USDC',
            decimals: 6,
            feed: feed(usdcFeed),
            transfer_gas_limit: TRANSFER_GAS_LIMIT,
          },
        ],
        markets: [],
      },
    ],
  }
}
