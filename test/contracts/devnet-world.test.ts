import { encodeFunctionData, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MULTICALL3, TOKEN_PRICE_USD8 } from '../../scripts/contracts/devnet-world.js'
import { aggregatorV3Abi } from '../../src/contracts/abis/aggregator-v3.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { erc4626Abi } from '../../src/contracts/abis/erc4626.js'
import { multicall3Abi } from '../../src/contracts/abis/multicall3.js'
import { quoterV2Abi } from '../../src/contracts/abis/quoter-v2.js'
import { uniswapV3FactoryAbi, uniswapV3PoolAbi } from '../../src/contracts/abis/uniswap-v3.js'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devSanctionsOracle from '../../src/contracts/generated/dev-sanctions-oracle.json' with {
  type: 'json',
}
import devVault from '../../src/contracts/generated/dev-vault.json' with { type: 'json' }
import { encodeSwapPath } from '../../src/contracts/venue-calls.js'
import type { Address } from '../../src/domain/ids.js'
import { NATIVE_PRICE_USD8, type SponsoredChain, startSponsoredChain } from './sponsored-chain.js'

const USD8 = 10n ** 8n
const ETHER = 10n ** 18n
const YEAR_SECONDS = 31_536_000

describe.each([
  { chainId: 8453, usdcDecimals: 6 },
  { chainId: 56, usdcDecimals: 18 },
])('the sponsored world of chain $chainId', ({ chainId, usdcDecimals }) => {
  const usd = (amount: bigint) => amount * 10n ** BigInt(usdcDecimals)
  let chain: SponsoredChain
  beforeAll(async () => {
    chain = await startSponsoredChain(chainId, usdcDecimals)
  })
  afterAll(() => chain?.stop())

  it('quotes what the price feeds say, less pool fees and impact', async () => {
    const read = async (tokens: readonly Address[], fees: readonly number[]) => {
      const { result } = await chain.owner.client.simulateContract({
        address: chain.world.swap.quoter,
        abi: quoterV2Abi,
        functionName: 'quoteExactInput',
        args: [encodeSwapPath(tokens, fees), usd(1_000n)],
      })
      return result[0]
    }
    const { usdc, wrapped } = chain
    const native = (1_000n * USD8 * ETHER) / NATIVE_PRICE_USD8
    const tokens = (1_000n * USD8 * ETHER) / TOKEN_PRICE_USD8
    expectLess(native, await read([usdc, wrapped], [500]), 10n)
    expectLess(native, await read([usdc, wrapped], [3000]), 40n)
    expectLess(tokens, await read([usdc, wrapped, chain.world.token.address], [500, 3000]), 50n)
  })

  it('has its pools where the factory says, with liquidity', async () => {
    const { client } = chain.owner
    for (const [token, fee] of [
      [chain.usdc, 500],
      [chain.usdc, 3000],
      [chain.world.token.address, 3000],
    ] as const) {
      const pool = await client.readContract({
        ...{ address: chain.world.swap.factory, abi: uniswapV3FactoryAbi },
        ...{ functionName: 'getPool', args: [token, chain.wrapped, fee] },
      })
      const read = { address: pool, abi: uniswapV3PoolAbi } as const
      expect(await client.readContract({ ...read, functionName: 'liquidity' })).toBeGreaterThan(0n)
      const [sqrtPriceX96, , , , , , unlocked] = await client.readContract({
        ...{ ...read, functionName: 'slot0' },
      })
      expect(sqrtPriceX96).toBeGreaterThan(0n)
      expect(unlocked).toBe(true)
    }
  })

  it('raises the price of vault shares, and can pay out every share at that price', async () => {
    const { client } = chain.owner
    const owner = chain.owner.account.address
    const balance = (token: Address) =>
      client.readContract({
        ...{ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] },
      })
    const worth = async (vault: Address) =>
      client.readContract({
        ...{ address: vault, abi: erc4626Abi, functionName: 'convertToAssets' },
        args: [await balance(vault)],
      })
    const before = await Promise.all(chain.world.vaults.map((v) => worth(v.address)))
    await client.increaseTime({ seconds: YEAR_SECONDS })
    await client.mine({ blocks: 1 })
    for (const [i, vault] of chain.world.vaults.entries()) {
      const after = await worth(vault.address)
      expect(Number(after) / Number(before[i])).toBeCloseTo(1.05, 3)
      const held = await balance(vault.asset)
      await chain.owner.write(vault.address, devVault.abi, 'redeem', [
        await balance(vault.address),
        owner,
        owner,
      ])
      expect((await balance(vault.asset)) - held).toBe(after)
    }
  })

  it('answers Multicall3 at its usual address, failures included', async () => {
    const symbol = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' })
    const results = await chain.owner.client.readContract({
      address: MULTICALL3,
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [
        [
          { target: chain.usdc, allowFailure: false, callData: symbol },
          { target: chain.usdc, allowFailure: true, callData: '0x12345678' },
        ],
      ],
    })
    expect(results.map((r) => r.success)).toEqual([true, false])
  })
})

describe('fixtures of the development chains', () => {
  let chain: SponsoredChain
  beforeAll(async () => {
    chain = await startSponsoredChain()
  })
  afterAll(() => chain?.stop())

  it('has a feed that stays fresh until it is frozen', async () => {
    const { owner } = chain
    const feed = await owner.deploy(
      devPriceFeed.bytecode,
      ['string', 'int256', 'address'],
      ['ETH / USD', NATIVE_PRICE_USD8, owner.account.address],
    )
    const read = async () => {
      const [, answer, , updatedAt] = await owner.client.readContract({
        ...{ address: feed, abi: aggregatorV3Abi, functionName: 'latestRoundData' },
      })
      return { answer, updatedAt }
    }
    await owner.client.increaseTime({ seconds: YEAR_SECONDS })
    await owner.client.mine({ blocks: 1 })
    const { timestamp } = await owner.client.getBlock()
    expect(await read()).toEqual({ answer: NATIVE_PRICE_USD8, updatedAt: timestamp })
    await owner.write(feed, devPriceFeed.abi, 'freezeAt', [timestamp - 7_200n])
    await owner.write(feed, devPriceFeed.abi, 'setAnswer', [1n])
    expect(await read()).toEqual({ answer: 1n, updatedAt: timestamp - 7_200n })
  })

  it('has an oracle that lists and delists with the events of the real one', async () => {
    const { owner } = chain
    const oracle = await owner.deploy(
      devSanctionsOracle.bytecode,
      ['address'],
      [owner.account.address],
    )
    const listed = chain.relayer.account.address
    const ask = () =>
      owner.client.readContract({
        ...{ address: oracle, abi: devSanctionsOracle.abi, functionName: 'isSanctioned' },
        args: [listed],
      })
    const { logs } = await owner.write(oracle, devSanctionsOracle.abi, 'addToSanctionsList', [
      [listed],
    ])
    // keccak256("SanctionedAddressesAdded(address[])"), as the Chainalysis oracle emits it
    expect(logs[0]?.topics[0]).toBe(
      '0x2596d7dd6966c5673f9c06ddb0564c4f0e6d8d206ea075b83ad9ddd71a4fb927',
    )
    expect(await ask()).toBe(true)
    await owner.write(oracle, devSanctionsOracle.abi, 'removeFromSanctionsList', [[listed]])
    expect(await ask()).toBe(false)
  })

  it('has wrapped native currency that turns back into native currency', async () => {
    const { owner, wrapped } = chain
    const value = parseEther('1')
    const before = await owner.client.getBalance({ address: wrapped })
    await owner.send({ to: wrapped, data: '0x', value })
    expect((await owner.client.getBalance({ address: wrapped })) - before).toBe(value)
    await owner.send({
      to: wrapped,
      data: `0x2e1a7d4d${value.toString(16).padStart(64, '0')}`,
    })
    expect(await owner.client.getBalance({ address: wrapped })).toBe(before)
  })
})

/** `actual` is below `ideal` by at most so many basis points. */
function expectLess(ideal: bigint, actual: bigint, bps: bigint) {
  expect(actual).toBeLessThan(ideal)
  expect(actual).toBeGreaterThan((ideal * (10_000n - bps)) / 10_000n)
}
