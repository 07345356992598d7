import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import type { ChainConfig } from '../../src/config/chains.js'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import { type ChainlinkPrices, createChainlinkPrices } from '../../src/pricing/chainlink.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { DEPLOYER, deploy, transact } from '../support/deploy.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

const UNPRICED: Address = '0x4444444444444444444444444444444444444444'

let anvil: Anvil
let proxy: FaultProxy
let rpc: RpcClient
let usdc: Address
let wrapped: Address
let nativeFeed: Address
let usdcFeed: Address
let prices: ChainlinkPrices
let skewMs = 0

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  usdc = await token(6)
  wrapped = await token(18)
})
afterAll(() => anvil.stop())

function token(decimals: number): Promise<Address> {
  const { abi, bytecode } = devUsdc
  return deploy(anvil, { abi, bytecode, args: ['Token', 'TOK', decimals, DEPLOYER] })
}

function feed(description: string, answer: bigint): Promise<Address> {
  return deploy(anvil, {
    abi: devPriceFeed.abi,
    bytecode: devPriceFeed.bytecode,
    args: [description, answer, DEPLOYER],
  })
}

async function setAnswer(at: Address, answer: bigint): Promise<void> {
  await transact(anvil, {
    to: at,
    data: encodeFunctionData({ abi: devPriceFeed.abi, functionName: 'setAnswer', args: [answer] }),
  })
}

function config(said: Partial<ChainConfig> = {}): ChainConfig {
  return chainConfig(8453, {
    wrapped_native: wrapped,
    native_feed: { address: nativeFeed, max_age_seconds: 3_600 },
    tokens: [
      {
        address: usdc,
        symbol: 'USDC',
        decimals: 6,
        feed: { address: usdcFeed, max_age_seconds: 3_600 },
        transfer_gas_limit: null,
      },
      { address: UNPRICED, symbol: 'X', decimals: 18, feed: null, transfer_gas_limit: null },
    ],
    ...said,
  })
}

function opened(said: Partial<ChainConfig> = {}): ChainlinkPrices {
  const chain = config(said)
  return createChainlinkPrices([{ chain, rpc, refreshBlocks: 2, now: () => Date.now() + skewMs }])
}

beforeEach(async () => {
  skewMs = 0
  nativeFeed = await feed('ETH / USD', 2_500_00000000n)
  usdcFeed = await feed('USDC / USD', 1_00000000n)
  proxy = await startFaultProxy({ upstream: anvil.url })
  rpc = createRpcClient({ chainId: 8453, endpoints: [proxy.url], timeoutMs: 10_000 })
  prices = opened()
  return async () => {
    prices.close()
    await rpc.close()
    await proxy.close()
  }
})

describe('prices from feeds', () => {
  test('all feeds of a chain are read in one request, then answered without waiting', async () => {
    await rpc.request('eth_chainId', [])
    const before = proxy.requests()
    expect(await prices.price(8453, 'native')).toMatchObject({
      value: 2_500_00000000n,
      decimals: 8,
      source: `chainlink:${nativeFeed}`,
    })
    expect(prices.price(8453, usdc)).toMatchObject({ value: 1_00000000n })
    expect(proxy.requests() - before).toBe(1)
  })

  test('wrapped native and the native placeholder are native', async () => {
    await prices.warm()
    const native = prices.price(8453, 'native')
    expect(prices.price(8453, wrapped)).toBe(native)
    expect(prices.price(8453, NATIVE_TOKEN)).toBe(native)
  })

  test('a token without a feed and an unknown chain have no price', async () => {
    expect(prices.price(8453, UNPRICED)).toEqual({ unavailable: 'no-feed' })
    expect(prices.price(1, 'native')).toEqual({ unavailable: 'no-feed' })
  })

  test('a new price arrives with heads, and only every so many blocks', async () => {
    await prices.warm()
    const calls = () => proxy.seen.filter((method) => method === 'eth_call').length
    const before = calls()
    prices.onHead({ chainId: 8453, number: 100 })
    await expect.poll(() => calls() - before).toBe(2)
    // Not only asked for: what is under way when the next is due stands for it.
    await prices.warm()
    await setAnswer(nativeFeed, 2_600_00000000n)
    prices.onHead({ chainId: 8453, number: 101 })
    expect(prices.price(8453, 'native')).toMatchObject({ value: 2_500_00000000n })
    prices.onHead({ chainId: 8453, number: 102 })
    await expect.poll(() => prices.price(8453, 'native')).toMatchObject({ value: 2_600_00000000n })
  })

  test('a feed that stops becomes stale by time alone', async () => {
    const nowS = Math.floor(Date.now() / 1_000)
    await transact(anvil, {
      to: nativeFeed,
      data: encodeFunctionData({
        abi: devPriceFeed.abi,
        functionName: 'freezeAt',
        args: [BigInt(nowS - 3_570)],
      }),
    })
    expect(await prices.price(8453, 'native')).toHaveProperty('value')
    skewMs = 45_000
    expect(prices.price(8453, 'native')).toEqual({ unavailable: 'stale' })
  })

  test('a move of more than half within a minute is not believed until it has lasted', async () => {
    await prices.warm()
    await setAnswer(nativeFeed, 5_000_00000000n)
    await prices.warm()
    expect(prices.price(8453, 'native')).toEqual({ unavailable: 'implausible-move' })
    expect(prices.price(8453, usdc)).toHaveProperty('value')
    skewMs = 61_000
    await prices.warm()
    expect(prices.price(8453, 'native')).toMatchObject({ value: 5_000_00000000n })
  })

  test('an address that is no feed has no price', async () => {
    prices = opened({ native_feed: { address: UNPRICED, max_age_seconds: 60 } })
    expect(await prices.price(8453, 'native')).toEqual({ unavailable: 'feed-unreachable' })
  })

  test('a token that has other decimals than was said has none, and the others have theirs', async () => {
    const { tokens } = config()
    prices = opened({ tokens: tokens.map((it) => ({ ...it, decimals: 18 })) })
    expect(await prices.price(8453, usdc)).toEqual({ unavailable: 'misconfigured' })
    expect(prices.price(8453, 'native')).toHaveProperty('value')
    expect(prices.readings().map(({ gap }) => gap)).toEqual(['misconfigured', null])
  })

  test('wrapped native that does not count as native does has none', async () => {
    prices = opened({ wrapped_native: usdc, tokens: [] })
    expect(await prices.price(8453, usdc)).toEqual({ unavailable: 'misconfigured' })
    expect(prices.price(8453, 'native')).toHaveProperty('value')
  })

  test('a feed in another currency than dollars has none', async () => {
    const address = await feed('USDC / ETH', 400_000_000_000_000n)
    prices = opened({ native_feed: { address, max_age_seconds: 3_600 } })
    expect(await prices.price(8453, 'native')).toEqual({ unavailable: 'misconfigured' })
    expect(prices.price(8453, wrapped)).toEqual({ unavailable: 'misconfigured' })
    expect(prices.price(8453, usdc)).toHaveProperty('value')
  })

  test('a feed whose currency was asked in vain has none until it is known', async () => {
    const ether = await feed('wstETH / ETH Exchange Rate', 1_100_000_000n)
    prices = opened({ native_feed: { address: ether, max_age_seconds: 3_600 } })
    const limited = {
      method: 'eth_call',
      when: ([call]: readonly unknown[]) => (call as { data: string }).data === '0x7284e416',
      fault: { kind: 'error', code: -32_005, message: 'limit exceeded' },
    } as const
    proxy.inject(limited)
    expect(await prices.price(8453, 'native')).toEqual({ unavailable: 'feed-unreachable' })
    proxy.clear()
    await prices.warm()
    expect(prices.price(8453, 'native')).toEqual({ unavailable: 'misconfigured' })
    proxy.inject(limited)
    await prices.warm()
    expect(prices.price(8453, 'native')).toEqual({ unavailable: 'misconfigured' })
  })

  test('a feed that names no currency is what its operator says it is', async () => {
    const address = await feed('A venue of our own', 300_000_000_000n)
    prices = opened({ native_feed: { address, max_age_seconds: 3_600 } })
    expect(await prices.price(8453, 'native')).toHaveProperty('value')
  })

  test('a token whose decimals a node does not say has none until one does', async () => {
    proxy.inject({
      method: 'eth_call',
      times: 1,
      when: ([call]) => (call as { to: string }).to === usdc,
      fault: { kind: 'error', code: 3, message: 'execution reverted' },
    })
    expect(await prices.price(8453, usdc)).toEqual({ unavailable: 'feed-invalid' })
    await prices.warm()
    expect(prices.price(8453, usdc)).toHaveProperty('value')
  })

  test('a node that is gone serves the last reading for a minute, then no price', async () => {
    await prices.warm()
    proxy.inject({ fault: { kind: 'cut' } })
    await prices.warm()
    expect(prices.price(8453, 'native')).toHaveProperty('value')
    skewMs = 61_000
    expect(await prices.price(8453, 'native')).toEqual({ unavailable: 'feed-unreachable' })
  })

  test('an L2 whose sequencer is down or just back has no prices', async () => {
    const uptime = await feed('L2 Sequencer Uptime', 1n)
    prices = opened({ sequencer_uptime_feed: uptime })
    expect(await prices.price(8453, usdc)).toEqual({ unavailable: 'sequencer-down' })
    await setAnswer(uptime, 0n)
    await prices.warm()
    expect(prices.price(8453, usdc)).toEqual({ unavailable: 'sequencer-recovering' })
    const longAgo = BigInt(Math.floor(Date.now() / 1_000) - 4_000)
    await transact(anvil, {
      to: uptime,
      data: encodeFunctionData({
        abi: devPriceFeed.abi,
        functionName: 'freezeAt',
        args: [longAgo],
      }),
    })
    await prices.warm()
    expect(prices.price(8453, usdc)).toHaveProperty('value')
  })
})
