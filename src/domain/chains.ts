/**
 * The parts of a transaction's price besides the gas of its execution: `l1` has none, `op-stack`
 * charges an L1 data fee that no transaction can cap, `arbitrum` counts L1 data as gas, so that
 * even a plain transfer must be estimated.
 */
type FeeModel = 'l1' | 'op-stack' | 'arbitrum'

/**
 * Facts about a chain that hold for every operator. An operator's decisions are in `chains.json`.
 */
interface ChainFacts {
  readonly id: number
  /** The name that people know. */
  readonly name: string
  readonly nativeSymbol: string
  readonly feeModel: FeeModel
  /**
   * The lowest tip worth offering, wei per gas. Recent tips are zero in quiet times and on dev
   * chains, but pools have minimums of their own.
   */
  readonly tipFloorWei: bigint
  /** Chainalysis' oracle, at the address in its documentation. */
  readonly sanctionsOracle: `0x${string}`
  /**
   * Tokens that people know by name, as issuers and bridges publish them. A live installation
   * starts with some of them, and its registry pins all. Bridged USDC has its bridge's symbol here,
   * since its contract says "USDC".
   */
  readonly knownTokens: readonly KnownToken[]
}

export interface KnownToken {
  /** With EIP-55 checksum. */
  readonly address: `0x${string}`
  readonly symbol: string
  readonly decimals: number
}

const GWEI = 1_000_000_000n
const COMMON_ORACLE = '0x40C57923924B5c5c5455c48D93317139ADDaC8fb'

/** The supported EVM chains (CONTRACT.md, "Chains"). A new one is a row here and in dev-chains. */
const ROWS = [
  {
    id: 1,
    name: 'Ethereum',
    nativeSymbol: 'ETH',
    feeModel: 'l1',
    tipFloorWei: GWEI / 100n,
    sanctionsOracle: COMMON_ORACLE,
    knownTokens: [
      { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', symbol: 'USDC', decimals: 6 },
      { address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', symbol: 'WETH', decimals: 18 },
      { address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', symbol: 'USDT', decimals: 6 },
      { address: '0x6B175474E89094C44Da98b954EedeAC495271d0F', symbol: 'DAI', decimals: 18 },
      { address: '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', symbol: 'WBTC', decimals: 8 },
    ],
  },
  {
    id: 10,
    name: 'Optimism',
    nativeSymbol: 'ETH',
    feeModel: 'op-stack',
    tipFloorWei: GWEI / 10_000n,
    sanctionsOracle: COMMON_ORACLE,
    knownTokens: [
      { address: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', symbol: 'USDC', decimals: 6 },
      { address: '0x4200000000000000000000000000000000000006', symbol: 'WETH', decimals: 18 },
      { address: '0x7F5c764cBc14f9669B88837ca1490cCa17c31607', symbol: 'USDC.e', decimals: 6 },
      { address: '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', symbol: 'USDT', decimals: 6 },
      { address: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', symbol: 'DAI', decimals: 18 },
    ],
  },
  {
    id: 56,
    name: 'BNB Chain',
    nativeSymbol: 'BNB',
    feeModel: 'l1',
    // The minimum gas price of its validators; there is no base fee below it.
    tipFloorWei: GWEI / 20n,
    sanctionsOracle: COMMON_ORACLE,
    knownTokens: [
      { address: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', symbol: 'USDC', decimals: 18 },
      { address: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', symbol: 'WBNB', decimals: 18 },
      { address: '0x55d398326f99059fF775485246999027B3197955', symbol: 'USDT', decimals: 18 },
    ],
  },
  {
    id: 137,
    name: 'Polygon',
    nativeSymbol: 'POL',
    feeModel: 'l1',
    // The default price limit of bor.
    tipFloorWei: 25n * GWEI,
    sanctionsOracle: COMMON_ORACLE,
    knownTokens: [
      { address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', symbol: 'USDC', decimals: 6 },
      { address: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', symbol: 'WPOL', decimals: 18 },
      { address: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', symbol: 'USDC.e', decimals: 6 },
      { address: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', symbol: 'USDT', decimals: 6 },
      { address: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', symbol: 'DAI', decimals: 18 },
      { address: '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', symbol: 'WETH', decimals: 18 },
    ],
  },
  {
    id: 8453,
    name: 'Base',
    nativeSymbol: 'ETH',
    feeModel: 'op-stack',
    tipFloorWei: GWEI / 10_000n,
    sanctionsOracle: '0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B',
    knownTokens: [
      { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', symbol: 'USDC', decimals: 6 },
      { address: '0x4200000000000000000000000000000000000006', symbol: 'WETH', decimals: 18 },
      { address: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', symbol: 'USDbC', decimals: 6 },
      { address: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', symbol: 'DAI', decimals: 18 },
      { address: '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', symbol: 'cbBTC', decimals: 8 },
    ],
  },
  {
    id: 42161,
    name: 'Arbitrum',
    nativeSymbol: 'ETH',
    feeModel: 'arbitrum',
    // The sequencer works first come, first served, and ignores tips.
    tipFloorWei: 0n,
    sanctionsOracle: COMMON_ORACLE,
    knownTokens: [
      { address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', symbol: 'USDC', decimals: 6 },
      { address: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', symbol: 'WETH', decimals: 18 },
      { address: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', symbol: 'USDC.e', decimals: 6 },
      { address: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', symbol: 'USDT', decimals: 6 },
      { address: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', symbol: 'DAI', decimals: 18 },
      { address: '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', symbol: 'WBTC', decimals: 8 },
    ],
  },
] as const satisfies readonly ChainFacts[]

export type ChainId = (typeof ROWS)[number]['id']

/** The id and name of each chain, for tools that take a chain by name. */
export const CHAINS: readonly { readonly id: ChainId; readonly name: string }[] = ROWS

export const CHAIN_IDS: readonly ChainId[] = ROWS.map(({ id }) => id)

const FACTS: ReadonlyMap<number, ChainFacts> = new Map(ROWS.map((row) => [row.id, row]))

export function chainFacts(chainId: ChainId): ChainFacts
export function chainFacts(chainId: number): ChainFacts | undefined
export function chainFacts(chainId: number): ChainFacts | undefined {
  return FACTS.get(chainId)
}

export function isChainId(value: number): value is ChainId {
  return FACTS.has(value)
}

const COUNTS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

/** The number of chains in words, for texts: "six". */
export const CHAIN_COUNT = COUNTS[ROWS.length] ?? String(ROWS.length)

export const BASE_CHAIN_ID = 8453 satisfies ChainId

/** The ERC-7528 address for a chain's native currency in requests. */
export const NATIVE_TOKEN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE' as const

/** The decimals of every chain's native currency. */
export const NATIVE_DECIMALS = 18
