import type { ChainAccess } from '../chains/access.js'
import { quoterV2Abi } from '../contracts/abis/quoter-v2.js'
import {
  encodeSwap,
  encodeSwapPath,
  encodeSwapToNative,
  encodeUnwrap,
  encodeWrap,
} from '../contracts/venue-calls.js'
import { NATIVE_TOKEN } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import type { ContractReads } from './contract-reads.js'
import type { SwapOffer, SwapRequest, SwapVenue } from './swap-venue.js'
import { createUniswapPools, type Hop } from './uniswap-pools.js'

const BPS = 10_000n

/**
 * Uniswap v3: the best of all fee tiers, directly and over one hop through wrapped native or USDC.
 * Prices come from QuoterV2, which simulates the swap; calls go to SwapRouter02.
 */
export function createUniswapV3(reads: ContractReads): SwapVenue {
  const pools = createUniswapPools(reads)

  async function routes(
    chain: ChainAccess,
    tokenIn: Address,
    tokenOut: Address,
  ): Promise<readonly Hop[][]> {
    const over = intermediates(chain).filter(
      (token) => !same(token, tokenIn) && !same(token, tokenOut),
    )
    const [direct, ...legs] = await Promise.all([
      pools.between(chain, tokenIn, tokenOut),
      ...over.flatMap((token) => [
        pools.between(chain, tokenIn, token),
        pools.between(chain, token, tokenOut),
      ]),
    ])
    const found: Hop[][] = (direct ?? []).map((hop) => [hop])
    for (let i = 0; i < legs.length; i += 2) {
      for (const first of legs[i] ?? []) {
        for (const second of legs[i + 1] ?? []) found.push([first, second])
      }
    }
    return found
  }

  async function best(
    chain: ChainAccess,
    quoter: Address,
    candidates: readonly Hop[][],
    amountIn: bigint,
  ): Promise<{ hops: Hop[]; amountOut: bigint } | null> {
    const outputs = await Promise.all(
      candidates.map((hops) => {
        const path = encodeSwapPath(tokensOf(hops), feesOf(hops))
        return reads.read(chain, quoter, quoterV2Abi, 'quoteExactInput', [path, amountIn])
      }),
    )
    let winner: { hops: Hop[]; amountOut: bigint } | null = null
    candidates.forEach((hops, i) => {
      const amountOut = outputs[i]?.[0] ?? 0n
      if (amountOut > (winner?.amountOut ?? 0n)) winner = { hops, amountOut }
    })
    return winner
  }

  /** @returns null where a hop gives nothing any longer */
  async function amountsBetween(
    chain: ChainAccess,
    quoter: Address,
    hops: readonly Hop[],
    amountIn: bigint,
  ): Promise<bigint[] | null> {
    const outputs = await Promise.all(
      hops.slice(1).map((_, at) => {
        const first = hops.slice(0, at + 1)
        const path = encodeSwapPath(tokensOf(first), feesOf(first))
        return reads.read(chain, quoter, quoterV2Abi, 'quoteExactInput', [path, amountIn])
      }),
    )
    const amounts = outputs.map((output) => output?.[0] ?? 0n)
    return amounts.includes(0n) ? null : amounts
  }

  return {
    async offer(chain, request) {
      const { swap } = chain.config
      if (swap === null) return null
      const wrapped = chain.config.wrapped_native as Address
      const tokenIn = request.tokenIn === NATIVE_TOKEN ? wrapped : request.tokenIn
      const tokenOut = request.tokenOut === NATIVE_TOKEN ? wrapped : request.tokenOut
      const target = swap.router as Address
      if (same(tokenIn, tokenOut)) return wrapping(request, wrapped, target)
      const candidates = await routes(chain, tokenIn, tokenOut)
      const { amountIn } = request
      const found = await best(chain, swap.quoter as Address, candidates, amountIn)
      if (found === null) return null
      const { hops, amountOut } = found
      const [spot, between] = await Promise.all([
        pools.spotOutput(chain, hops, amountIn),
        amountsBetween(chain, swap.quoter as Address, hops, amountIn),
      ])
      if (between === null) return null
      const tokens = tokensOf(hops)
      const poolFees = feesOf(hops)
      const encode = request.tokenOut === NATIVE_TOKEN ? encodeSwapToNative : encodeSwap
      return {
        ...{ amountOut, amountsBetween: between, target, tokens, poolFees },
        venue: 'uniswap-v3',
        priceImpactBps: impactBps(spot, amountOut),
        encode: (minOut, recipient) => encode({ tokens, poolFees, recipient, amountIn, minOut }),
      }
    },
  }
}

/** Native and wrapped native are exchanged one for one. */
function wrapping(
  { tokenIn, amountIn }: SwapRequest,
  wrapped: Address,
  target: Address,
): SwapOffer {
  const encode = tokenIn === NATIVE_TOKEN ? encodeWrap : encodeUnwrap
  return {
    amountOut: amountIn,
    priceImpactBps: 0,
    venue: 'wrapped-native',
    target,
    tokens: [wrapped],
    amountsBetween: [],
    poolFees: [],
    encode: (_minOut, recipient) => encode(wrapped, amountIn, recipient),
  }
}

function intermediates({ config }: ChainAccess): Address[] {
  const usdc = config.tokens.find(({ symbol }) => symbol === 'USDC')?.address
  const found = [config.wrapped_native, ...(usdc === undefined ? [] : [usdc])]
  return found as Address[]
}

function impactBps(spot: bigint | null, amountOut: bigint): number {
  if (spot === null || spot <= amountOut) return 0
  return Number(((spot - amountOut) * BPS) / spot)
}

function tokensOf(hops: readonly Hop[]): Address[] {
  return [...hops.slice(0, 1).map(({ tokenIn }) => tokenIn), ...hops.map((hop) => hop.tokenOut)]
}

function feesOf(hops: readonly Hop[]): number[] {
  return hops.map(({ fee }) => fee)
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
