import { expect, test } from 'vitest'
import type { ChainAccess } from '../../src/chains/access.js'
import type { PlanPorts } from '../../src/defi/plan.js'
import { planSwap, swapExchange } from '../../src/defi/plan-swap.js'
import type { SwapOffer } from '../../src/defi/swap-venue.js'
import { SHARE_PRICE_SHARES } from '../../src/defi/vault-venue.js'
import type { Address } from '../../src/domain/ids.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const [ACCOUNT, USDC, WRAPPED, VAULT] = ['1', '2', '3', 'a'].map(address) as [
  Address,
  Address,
  Address,
  Address,
]
const USD = 1_000_000n

/** What swapping so much of a token counts; shares have 18 decimals and are worth 1.5 USDC. */
async function counted(tokenIn: Address, amountIn: bigint, vaultAnswers = true) {
  const state = {
    ...{ asset: USDC, decimals: 18, totalAssets: 1n, shares: amountIn, assets: amountIn },
    sharePrice: (SHARE_PRICE_SHARES * 15n * USD) / (10n * 10n ** 18n),
    paused: false,
  }
  const ports = {
    prices: {
      price: (_: number, token: Address | 'native') =>
        token === 'native' || token === USDC
          ? { value: 1n, decimals: 0, updatedAtMs: 0, source: 'test' }
          : ({ unavailable: 'no-feed' } as const),
    },
    swapVenue: { offer: async () => null },
    vaultVenue: {
      read: async () => (vaultAnswers ? state : null),
      previewDeposit: async () => null,
      previewRedeem: async () => null,
    },
  }
  const chain = {
    config: {
      ...{ id: 8453, wrapped_native: WRAPPED },
      tokens: [{ symbol: 'USDC', address: USDC, decimals: 6 }],
      markets: [{ vault: VAULT.toUpperCase().replace('0X', '0x') }],
    },
    reads: { tokenBalance: async () => amountIn, nativeBalance: async () => amountIn },
  } as unknown as ChainAccess
  const wanted = { tokenIn, tokenOut: WRAPPED, amountIn }
  const plan = await planSwap(ports, chain, ACCOUNT, wanted, {
    ...{ minOutOf: (amountOut: bigint) => amountOut, slippageBps: null, maxLossBps: null },
  })
  return plan.ok ? plan.value.value : plan.fault.code
}

test('shares of a vault that are swapped count what they can be redeemed for', async () => {
  // One of the smallest units more, since redeeming rounds down.
  expect(await counted(VAULT, 100n * 10n ** 18n)).toEqual({
    micros: 150n * USD + 1n,
    unpriced: false,
  })
})

test('a vault that does not answer as one is a token like any other', async () => {
  expect(await counted(VAULT, 1n, false)).toEqual({ micros: 0n, unpriced: true })
  expect(await counted(address('b'), 1n)).toEqual({ micros: 0n, unpriced: true })
  expect(await counted(USDC, USD)).toEqual({ micros: USD, unpriced: false })
})

test('a swap over another token is valued hop by hop, each by what it was offered', async () => {
  const [first, last] = [address('c'), address('d')]
  const unit = (cents: bigint) => ({ numerator: cents, denominator: 100n })
  const cents = new Map([
    [first, 100n],
    [USDC, 50n],
    [last, 25n],
  ])
  const known = [first, last, USDC].map((token) => ({ symbol: '', address: token, decimals: 0 }))
  const exchange = async (tokens: readonly Address[], amountsBetween: readonly bigint[]) => {
    const offer: SwapOffer = {
      ...{ amountOut: 380n, priceImpactBps: 0, venue: 'test', target: VAULT },
      ...{ tokens, amountsBetween, poolFees: [], encode: () => '0x' },
    }
    const ports = {
      prices: {
        price: (_: number, token: Address) => {
          const value = cents.get(token)
          return value === undefined
            ? { unavailable: 'no-feed' }
            : { value, decimals: 2, updatedAtMs: 0, source: 'test' }
        },
      },
    } as unknown as PlanPorts
    const config = { id: 8453, wrapped_native: WRAPPED, tokens: known, markets: [] }
    const chain = { config } as unknown as ChainAccess
    const wanted = { tokenIn: first, tokenOut: last, amountIn: 100n }
    const found = await swapExchange(ports, chain, ACCOUNT, wanted, offer)
    if (!found.ok) throw new Error(found.fault.code)
    return found.value
  }
  const whole = { netIn: 99n, unitIn: unit(100n), unitOut: unit(25n) }
  const direct = await exchange([first, last], [])
  if (direct === null) throw new Error('both sides have prices')
  expect(direct).toEqual({ ...whole, netIn: direct.netIn })
  expect(await exchange([first, USDC, last], [197n])).toEqual({
    ...direct,
    hops: [
      {
        ...{ tokenIn: first, tokenOut: USDC, amountOut: 197n },
        exchange: { netIn: direct.netIn, unitIn: unit(100n), unitOut: unit(50n) },
      },
      {
        ...{ tokenIn: USDC, tokenOut: last, amountOut: 380n },
        exchange: { netIn: 197n, unitIn: unit(50n), unitOut: unit(25n) },
      },
    ],
  })
  // A venue that does not say what comes between, and a token without a price there.
  expect(await exchange([first, USDC, last], [])).toBeNull()
  expect(await exchange([first, address('e'), last], [1n])).toBeNull()
})
