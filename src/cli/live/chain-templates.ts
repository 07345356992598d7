import type { ChainConfig, ChainsFile, TokenConfig } from '../../config/chains.js'
import { type ChainId, chainFacts } from '../../domain/chains.js'

/**
 * `chains.json` as a live installation begins. Addresses are those that the issuers publish
 * (Circle, Uniswap, Chainlink, Chainalysis); the service asserts code, decimals, symbols and
 * descriptions of all of them on chain. Wrong decimals and feeds have no price, so that nothing is
 * sent by them; of the rest it warns.
 */
interface ChainTemplate {
  /** Variable of the environment that holds the node's URL. */
  readonly rpcVariable: string
  /** Spec silent: about ten seconds of blocks, half a minute on Ethereum. */
  readonly confirmations: number
  readonly blockTimeMs: number
  /** About ten times what the chain asks in a busy hour. */
  readonly feeCeilingGwei: number
  readonly wrappedNative: string
  readonly wrappedSymbol: string
  readonly usdc: string
  readonly usdcDecimals: number
  /** Chainlink, native / USD. */
  readonly nativeFeed: string
  /** Chainlink, USDC / USD. */
  readonly usdcFeed: string
  /** Chainlink; null: the chain has no sequencer. */
  readonly sequencerFeed: string | null
  readonly swap: NonNullable<ChainConfig['swap']>
}

const COMMON_SWAP = {
  factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
  router: '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45',
  quoter: '0x61fFE014bA17989E743c5F6cB21bF9697530B21e',
}
const OP_STACK_WRAPPED = '0x4200000000000000000000000000000000000006'

const TEMPLATES: Readonly<Record<ChainId, ChainTemplate>> = {
  1: {
    rpcVariable: 'RPC_URL_ETHEREUM',
    confirmations: 3,
    blockTimeMs: 12_000,
    feeCeilingGwei: 1_000,
    wrappedNative: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    wrappedSymbol: 'WETH',
    usdc: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    usdcDecimals: 6,
    nativeFeed: '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419',
    usdcFeed: '0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6',
    sequencerFeed: null,
    swap: COMMON_SWAP,
  },
  10: {
    rpcVariable: 'RPC_URL_OPTIMISM',
    confirmations: 5,
    blockTimeMs: 2_000,
    feeCeilingGwei: 100,
    wrappedNative: OP_STACK_WRAPPED,
    wrappedSymbol: 'WETH',
    usdc: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    usdcDecimals: 6,
    nativeFeed: '0x13e3Ee699D1909E989722E753853AE30b17e08c5',
    usdcFeed: '0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3',
    sequencerFeed: '0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389',
    swap: COMMON_SWAP,
  },
  56: {
    rpcVariable: 'RPC_URL_BNB',
    confirmations: 5,
    blockTimeMs: 3_000,
    feeCeilingGwei: 100,
    wrappedNative: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    wrappedSymbol: 'WBNB',
    usdc: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    usdcDecimals: 18,
    nativeFeed: '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE',
    usdcFeed: '0x51597f405303C4377E36123cBc172b13269EA163',
    sequencerFeed: null,
    swap: {
      factory: '0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7',
      router: '0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2',
      quoter: '0x78D78E420Da98ad378D7799bE8f4AF69033EB077',
    },
  },
  137: {
    rpcVariable: 'RPC_URL_POLYGON',
    confirmations: 10,
    blockTimeMs: 2_000,
    feeCeilingGwei: 5_000,
    wrappedNative: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    wrappedSymbol: 'WPOL',
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    usdcDecimals: 6,
    nativeFeed: '0xAB594600376Ec9fD91F8e885dADF0CE036862dE0',
    usdcFeed: '0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7',
    sequencerFeed: null,
    swap: COMMON_SWAP,
  },
  8453: {
    rpcVariable: 'RPC_URL_BASE',
    confirmations: 5,
    blockTimeMs: 2_000,
    feeCeilingGwei: 100,
    wrappedNative: OP_STACK_WRAPPED,
    wrappedSymbol: 'WETH',
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    usdcDecimals: 6,
    nativeFeed: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
    usdcFeed: '0x7e860098F58bBFC8648a4311b374B1D669a2bc6B',
    sequencerFeed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
    swap: {
      factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD',
      router: '0x2626664c2603336E57B271c5C0b26F421741e481',
      quoter: '0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a',
    },
  },
  42161: {
    rpcVariable: 'RPC_URL_ARBITRUM',
    confirmations: 20,
    blockTimeMs: 250,
    feeCeilingGwei: 100,
    wrappedNative: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    wrappedSymbol: 'WETH',
    usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    usdcDecimals: 6,
    nativeFeed: '0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612',
    usdcFeed: '0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3',
    sequencerFeed: '0xFdB631F5EE196F0ed6FAa767959853A9F217697D',
    swap: COMMON_SWAP,
  },
}

/**
 * A day, which is Chainlink's longest heartbeat, and an hour. Prices that move come sooner; an
 * operator who knows a feed's own heartbeat writes that.
 */
const FEED_AGE_SECONDS_MAX = 90_000
const ORACLE_AGE_SECONDS_MAX = 86_400
const WEI_PER_GWEI = 1_000_000_000n

export interface ChainChoices {
  readonly chains: readonly ChainId[]
  /** USDC / USD feeds by chain, in place of Chainlink's. */
  readonly usdcFeeds: ReadonlyMap<number, string>
}

export function liveChains({ chains, usdcFeeds }: ChainChoices): ChainsFile {
  return { chains: chains.map((id) => liveChain(id, usdcFeeds.get(id) ?? TEMPLATES[id].usdcFeed)) }
}

/** Variables that have to be set for these chains. */
export function rpcVariables(chains: readonly ChainId[]): string[] {
  return chains.map((id) => TEMPLATES[id].rpcVariable)
}

function liveChain(id: ChainId, usdcFeed: string): ChainConfig {
  const { name, nativeSymbol, sanctionsOracle } = chainFacts(id)
  const template = TEMPLATES[id]
  const feed = (address: string) => ({ address, max_age_seconds: FEED_AGE_SECONDS_MAX })
  const nativeFeed = feed(template.nativeFeed)
  const token = (
    address: string,
    symbol: string,
    decimals: number,
    price: TokenConfig['feed'],
  ): TokenConfig => ({ address, symbol, decimals, feed: price, transfer_gas_limit: null })
  return {
    id,
    name,
    native_symbol: nativeSymbol,
    rpc_urls: [`$${template.rpcVariable}`],
    confirmations: template.confirmations,
    block_time_ms: template.blockTimeMs,
    max_fee_per_gas_ceiling_wei: (BigInt(template.feeCeilingGwei) * WEI_PER_GWEI).toString(),
    wrapped_native: template.wrappedNative,
    native_feed: nativeFeed,
    sequencer_uptime_feed: template.sequencerFeed,
    // Until `countersign contracts deploy` has made them: sponsored calls are refused.
    router: null,
    delegate: null,
    swap: template.swap,
    tokens: [
      token(template.usdc, 'USDC', template.usdcDecimals, feed(usdcFeed)),
      token(template.wrappedNative, template.wrappedSymbol, 18, nativeFeed),
    ],
    markets: [],
    sanctions_oracle: {
      address: sanctionsOracle,
      from_block: null,
      max_age_seconds: ORACLE_AGE_SECONDS_MAX,
    },
  }
}
