import { LRUCache } from 'lru-cache'
import type { ChainAccess } from '../chains/access.js'
import { uniswapV3FactoryAbi, uniswapV3PoolAbi } from '../contracts/abis/uniswap-v3.js'
import { type Address, ZERO_ADDRESS } from '../domain/ids.js'
import type { ContractReads } from './contract-reads.js'

/** A pool along the route of a swap. */
export interface Hop {
  readonly pool: Address
  readonly tokenIn: Address
  readonly tokenOut: Address
  /** In hundredths of a basis point. */
  readonly fee: number
}

/** Fee tiers that Uniswap's factories enable on every supported chain. */
const FEE_TIERS = [100, 500, 3_000, 10_000] as const
const POOLS_REMEMBERED_MAX = 10_000
/** A pool exists for ever, but a missing one may be created. */
const ABSENT_MAX_AGE_MS = 60_000
const FEE_ONE = 1_000_000n

interface UniswapPools {
  /** Every pool of a pair; empty when there are no pools. */
  between(chain: ChainAccess, tokenIn: Address, tokenOut: Address): Promise<Hop[]>
  /** The output of `amountIn` at the present prices if the pools were infinitely deep. */
  spotOutput(chain: ChainAccess, hops: readonly Hop[], amountIn: bigint): Promise<bigint | null>
}

export function createUniswapPools(reads: ContractReads): UniswapPools {
  const known = new LRUCache<string, { pool: Address | null }>({ max: POOLS_REMEMBERED_MAX })

  async function poolOf(
    chain: ChainAccess,
    factory: Address,
    a: Address,
    b: Address,
    fee: number,
  ): Promise<Address | null> {
    const key = `${chain.config.id}|${[a, b].sort().join('|').toLowerCase()}|${fee}`
    const cached = known.get(key)
    if (cached !== undefined) return cached.pool
    const answer = await reads.read(chain, factory, uniswapV3FactoryAbi, 'getPool', [a, b, fee])
    const pool = answer === null || answer === ZERO_ADDRESS ? null : answer
    known.set(key, { pool }, pool === null ? { ttl: ABSENT_MAX_AGE_MS } : {})
    return pool
  }

  return {
    async between(chain, tokenIn, tokenOut) {
      const factory = chain.config.swap?.factory as Address | undefined
      if (factory === undefined) return []
      const found = await Promise.all(
        FEE_TIERS.map(async (fee) => {
          const pool = await poolOf(chain, factory, tokenIn, tokenOut, fee)
          return pool === null ? null : { pool, tokenIn, tokenOut, fee }
        }),
      )
      return found.filter((hop) => hop !== null)
    },
    async spotOutput(chain, hops, amountIn) {
      const slots = await Promise.all(
        hops.map(({ pool }) => reads.read(chain, pool, uniswapV3PoolAbi, 'slot0', [])),
      )
      let amount = amountIn
      for (const [i, { tokenIn, tokenOut, fee }] of hops.entries()) {
        const sqrtPriceX96 = slots[i]?.[0] ?? 0n
        if (sqrtPriceX96 === 0n) return null
        const net = (amount * (FEE_ONE - BigInt(fee))) / FEE_ONE
        const priceX192 = sqrtPriceX96 * sqrtPriceX96
        // The pool's price is that of the token with the lower address, in units of the other.
        amount =
          BigInt(tokenIn) < BigInt(tokenOut) ? (net * priceX192) >> 192n : (net << 192n) / priceX192
      }
      return amount
    },
  }
}
