/**
 * Where the price of a transaction comes from, apart from the gas of its execution: `l1` has nothing
 * else, `op-stack` charges an L1 data fee that no transaction can cap, `arbitrum` counts L1 data
 * as gas, so that even a plain transfer must be estimated.
 */
type FeeModel = 'l1' | 'op-stack' | 'arbitrum'

/** What is true of a chain whoever runs this service. What an operator decides is in `chains.json`. */
interface ChainFacts {
  readonly id: number
  /** As people know it. */
  readonly name: string
  readonly nativeSymbol: string
  readonly feeModel: FeeModel
  /**
   * Lowest tip worth offering, wei per gas. Recent tips are zero in quiet times and on dev chains,
   * but pools have floors of their own.
   */
  readonly tipFloorWei: bigint
  /** Chainalysis' oracle, as its documentation lists it. */
  readonly sanctionsOracle: `0x${string}`
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
  },
  {
    id: 10,
    name: 'Optimism',
    nativeSymbol: 'ETH',
    feeModel: 'op-stack',
    tipFloorWei: GWEI / 10_000n,
    sanctionsOracle: COMMON_ORACLE,
  },
  {
    id: 56,
    name: 'BNB Chain',
    nativeSymbol: 'BNB',
    feeModel: 'l1',
    // Its validators' minimum gas price, which has no base fee under it.
    tipFloorWei: GWEI / 20n,
    sanctionsOracle: COMMON_ORACLE,
  },
  {
    id: 137,
    name: 'Polygon',
    nativeSymbol: 'POL',
    feeModel: 'l1',
    // bor's default price limit.
    tipFloorWei: 25n * GWEI,
    sanctionsOracle: COMMON_ORACLE,
  },
  {
    id: 8453,
    name: 'Base',
    nativeSymbol: 'ETH',
    feeModel: 'op-stack',
    tipFloorWei: GWEI / 10_000n,
    sanctionsOracle: '0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B',
  },
  {
    id: 42161,
    name: 'Arbitrum',
    nativeSymbol: 'ETH',
    feeModel: 'arbitrum',
    // The sequencer takes first come, first served, and ignores tips.
    tipFloorWei: 0n,
    sanctionsOracle: COMMON_ORACLE,
  },
] as const satisfies readonly ChainFacts[]

export type ChainId = (typeof ROWS)[number]['id']

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

/** How many there are, as texts for people have it: "six". */
export const CHAIN_COUNT = COUNTS[ROWS.length] ?? String(ROWS.length)

export const BASE_CHAIN_ID = 8453 satisfies ChainId

/** The ERC-7528 address for a chain's native currency in requests. */
export const NATIVE_TOKEN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE' as const

/** Of every chain's native currency. */
export const NATIVE_DECIMALS = 18
