import type { ChainConfig, ChainsFile, TokenConfig } from '../../../src/config/chains.js'
import { BLOCK_TIME_MS } from '../chains/block-ticker.js'
import type { DevChain } from '../chains/dev-chains.js'
import type { FinishedWorld } from './world.js'

/** Dev feeds answer with the block's time; an hour covers a machine that slept. */
const FEED_AGE_SECONDS_MAX = 3_600
/** The lists stay valid on a machine that slept for a night. */
const ORACLE_AGE_SECONDS_MAX = 86_400
const CONFIRMATIONS = 1
/** OpenZeppelin's ERC-20 takes 35,000 to 52,000 gas for a transfer. */
const TRANSFER_GAS_LIMIT = 80_000

export interface BuiltChain {
  readonly chain: DevChain
  readonly rpcUrl: string
  readonly world: FinishedWorld
}

/** Returns the service's `chains.json` as an operator of these chains would write it. */
export function chainsFileOf(built: readonly BuiltChain[]): ChainsFile {
  return { chains: built.map(chainEntry) }
}

function chainEntry({ chain, rpcUrl, world }: BuiltChain): ChainConfig {
  const { tokens, feeds, venues, router, sanctions_oracle } = world
  const nativeFeed = feed(feeds.native_usd)
  const second = venues.second_token
  return {
    id: chain.id,
    name: chain.name,
    native_symbol: chain.nativeSymbol,
    rpc_urls: [rpcUrl],
    confirmations: CONFIRMATIONS,
    block_time_ms: BLOCK_TIME_MS,
    max_fee_per_gas_ceiling_wei: chain.maxFeePerGasCeilingWei.toString(),
    wrapped_native: tokens.wrapped_native,
    native_feed: nativeFeed,
    sequencer_uptime_feed: null,
    router: router?.router ?? null,
    delegate: router?.delegate ?? null,
    swap: venues.swap,
    tokens: [
      token(tokens.usdc, 'USDC', chain.usdcDecimals, feed(feeds.usdc_usd)),
      token(tokens.wrapped_native, chain.wrappedSymbol, 18, nativeFeed),
      token(second.address, second.symbol, second.decimals, feed(second.feed)),
    ],
    markets: venues.vaults.map(({ address, name, asset }) => ({
      market_id: `dev-${asset === tokens.usdc ? 'usdc' : 'native'}-${chain.id}`,
      protocol: 'erc4626',
      name,
      vault: address,
    })),
    sanctions_oracle: {
      address: sanctions_oracle,
      from_block: 0,
      max_age_seconds: ORACLE_AGE_SECONDS_MAX,
    },
  }
}

function feed(address: string): NonNullable<TokenConfig['feed']> {
  return { address, max_age_seconds: FEED_AGE_SECONDS_MAX }
}

function token(
  address: string,
  symbol: string,
  decimals: number,
  priceFeed: TokenConfig['feed'],
): TokenConfig {
  return { address, symbol, decimals, feed: priceFeed, transfer_gas_limit: TRANSFER_GAS_LIMIT }
}
