import type { ChainConfig, ChainsFile, TokenConfig } from '../../config/chains.js'
import { type ChainId, chainFacts, type KnownToken } from '../../domain/chains.js'

/**
 * The initial `chains.json` of a live installation. Addresses are those that the issuers publish
 * (Circle, Uniswap, Chainlink, Chainalysis); the service asserts code, decimals, symbols and
 * descriptions of all of them on chain. Tokens with wrong decimals or feeds have no price, so that
 * they cannot be sent; other differences cause warnings.
 */
interface ChainTemplate {
  /** The environment variable with the node's URL. */
  readonly rpcVariable: string
  /** Spec silent: about ten seconds of blocks, half a minute on Ethereum. */
  readonly confirmations: number
  readonly blockTimeMs: number
  /** About ten times the chain's fee in a busy hour. */
  readonly feeCeilingGwei: number
  /** The symbol of the wrapped native coin among the chain's known tokens. */
  readonly wrappedSymbol: string
  /** Chainlink, native / USD. */
  readonly nativeFeed: string
  /** Chainlink, USDC / USD. */
  readonly usdcFeed: string
  /** A Chainlink feed; null when the chain has no sequencer. */
  readonly sequencerFeed: string | null
  readonly swap: NonNullable<ChainConfig['swap']>
}

const COMMON_SWAP = {
  factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
  router: '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45',
  quoter: '0x61fFE014bA17989E743c5F6cB21bF9697530B21e',
}

const TEMPLATES: Readonly<Record<ChainId, ChainTemplate>> = {
  1: {
    rpcVariable: 'RPC_URL_ETHEREUM',
    confirmations: 3,
    blockTimeMs: 12_000,
    feeCeilingGwei: 1_000,
    wrappedSymbol: 'WETH',
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
    wrappedSymbol: 'WETH',
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
    wrappedSymbol: 'WBNB',
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
    wrappedSymbol: 'WPOL',
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
    wrappedSymbol: 'WETH',
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
    wrappedSymbol: 'WETH',
    nativeFeed: '0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612',
    usdcFeed: '0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3',
    sequencerFeed: '0xFdB631F5EE196F0ed6FAa767959853A9F217697D',
    swap: COMMON_SWAP,
  },
}

/**
 * A day, which is Chainlink's longest heartbeat, plus an hour. Moving prices are updated sooner; an
 * operator who knows a feed's own heartbeat sets that.
 */
const FEED_AGE_SECONDS_MAX = 90_000
const ORACLE_AGE_SECONDS_MAX = 86_400
const WEI_PER_GWEI = 1_000_000_000n

interface ChainChoices {
  readonly chains: readonly ChainId[]
  /** USDC / USD feeds by chain that replace Chainlink's. */
  readonly usdcFeeds: ReadonlyMap<number, string>
}

export function liveChains({ chains, usdcFeeds }: ChainChoices): ChainsFile {
  return { chains: chains.map((id) => liveChain(id, usdcFeeds.get(id) ?? TEMPLATES[id].usdcFeed)) }
}

/** Returns the variables that have to be set for these chains. */
export function rpcVariables(chains: readonly ChainId[]): string[] {
  return chains.map((id) => TEMPLATES[id].rpcVariable)
}

function knownToken(id: ChainId, symbol: string): KnownToken {
  const known = chainFacts(id).knownTokens.find((token) => token.symbol === symbol)
  if (known === undefined) throw new Error(`no known token ${symbol} on chain ${id}`)
  return known
}

function liveChain(id: ChainId, usdcFeed: string): ChainConfig {
  const { name, nativeSymbol, sanctionsOracle } = chainFacts(id)
  const template = TEMPLATES[id]
  const feed = (address: string) => ({ address, max_age_seconds: FEED_AGE_SECONDS_MAX })
  const nativeFeed = feed(template.nativeFeed)
  const usdc = knownToken(id, 'USDC')
  const wrapped = knownToken(id, template.wrappedSymbol)
  const token = (known: KnownToken, price: TokenConfig['feed']): TokenConfig => ({
    ...{ address: known.address, symbol: known.symbol, decimals: known.decimals },
    ...{ feed: price, transfer_gas_limit: null },
  })
  return {
    id,
    name,
    native_symbol: nativeSymbol,
    rpc_urls: [`$${template.rpcVariable}`],
    confirmations: template.confirmations,
    block_time_ms: template.blockTimeMs,
    max_fee_per_gas_ceiling_wei: (BigInt(template.feeCeilingGwei) * WEI_PER_GWEI).toString(),
    wrapped_native: wrapped.address,
    native_feed: nativeFeed,
    sequencer_uptime_feed: template.sequencerFeed,
    // Filled in after `countersign contracts deploy`; until then sponsored calls are refused.
    router: null,
    delegate: null,
    swap: template.swap,
    tokens: [token(usdc, feed(usdcFeed)), token(wrapped, nativeFeed)],
    markets: [],
    sanctions_oracle: {
      address: sanctionsOracle,
      from_block: null,
      max_age_seconds: ORACLE_AGE_SECONDS_MAX,
    },
  }
}
