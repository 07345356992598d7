import { encodeFunctionData, getAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import type { SimulatedCall } from '../../src/chains/simulate/simulation.js'
import { createSimulator } from '../../src/chains/simulate/simulator.js'
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import type { Address, Hex } from '../../src/domain/ids.js'
import { FaultError } from '../../src/errors/fault.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { DEPLOYER, deploy, transact } from '../support/deploy.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

const agent = getAddress('0x00000000000000000000000000000000000a6e47')
const someone = getAddress('0x00000000000000000000000000000000000abcde')

let anvil: Anvil
let proxy: FaultProxy
let rpc: RpcClient
let usdc: Address
let weth: Address

/** Of a node that simulates a contract without end on a busy machine. */
const PATIENCE_MS = 60_000

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  proxy = await startFaultProxy({ upstream: anvil.url })
  rpc = createRpcClient({ chainId: 8453, endpoints: [proxy.url], timeoutMs: PATIENCE_MS })
  usdc = await deploy(anvil, {
    abi: devUsdc.abi,
    bytecode: devUsdc.bytecode,
    args: ['USD Coin', 'USDC', 6, DEPLOYER],
  })
  weth = await deploy(anvil, {
    abi: devWrappedNative.abi,
    bytecode: devWrappedNative.bytecode,
    args: ['Wrapped Ether', 'WETH'],
  })
  const data = encodeFunctionData({ abi: devUsdc.abi, functionName: 'mint', args: [agent, 100n] })
  await transact(anvil, { to: usdc, data })
  await anvil.rpc('anvil_setBalance', [agent, '0xde0b6b3a7640000'])
})
afterAll(async () => {
  await rpc.close()
  await proxy.close()
  await anvil.stop()
})
afterEach(() => proxy.clear())

function call(to: Address, data: Hex, value = 0n): SimulatedCall {
  return { from: agent, to, data, value }
}

function usdcCall(functionName: 'transfer' | 'approve', args: [Address, bigint]): SimulatedCall {
  return call(usdc, encodeFunctionData({ abi: devUsdc.abi, functionName, args }))
}

function without(method: string): void {
  proxy.inject({
    method,
    fault: { kind: 'error', code: -32601, message: `the method ${method} does not exist` },
  })
}

test('what an endpoint serves is found by trying', async () => {
  expect(await createSimulator(rpc, weth).abilities.methods()).toEqual([
    'eth_simulateV1',
    'debug_traceCall',
  ])
  without('eth_simulateV1')
  expect(await createSimulator(rpc, weth).abilities.methods()).toEqual(['debug_traceCall'])
  without('debug_traceCall')
  const none = createSimulator(rpc, weth)
  expect(await none.abilities.methods()).toEqual([])
  expect(await none.simulate(usdcCall('transfer', [someone, 1n]))).toBeNull()
})

test('an unreachable chain is a fault, not a lack of ability', async () => {
  const gone = createRpcClient({ chainId: 8453, endpoints: ['http://127.0.0.1:1'] })
  const simulator = createSimulator(gone, weth)
  await expect(simulator.simulate(usdcCall('transfer', [someone, 1n]))).rejects.toBeInstanceOf(
    FaultError,
  )
  await gone.close()
})

describe.each(['eth_simulateV1', 'debug_traceCall'] as const)('by %s', (method) => {
  const other = method === 'eth_simulateV1' ? 'debug_traceCall' : 'eth_simulateV1'

  async function simulate(given: SimulatedCall, override = {}) {
    without(other)
    const simulator = createSimulator(rpc, weth)
    const seen = await simulator.simulate(given, { override })
    if (seen === null) throw new Error('nothing can simulate')
    return seen
  }

  test('a token transfer', async () => {
    const seen = await simulate(usdcCall('transfer', [someone, 7n]))
    expect(seen).toMatchObject({
      success: true,
      failure: null,
      revertReason: null,
      truncated: false,
    })
    expect(seen.transfers).toEqual([
      { token: usdc, from: agent, to: someone, amount: 7n, kind: 'erc20' },
    ])
    expect(seen.touched).toEqual(expect.arrayContaining([usdc, someone]))
    expect(seen.gasUsed > 21_000n).toBe(true)
  })

  test('a native transfer', async () => {
    const seen = await simulate(call(someone, '0x', 5n))
    expect(seen.transfers).toEqual([
      { token: null, from: agent, to: someone, amount: 5n, kind: 'native' },
    ])
    expect(seen.gasUsed).toBe(21_000n)
  })

  test('an approval', async () => {
    const seen = await simulate(usdcCall('approve', [someone, 9n]))
    expect(seen.approvals).toEqual([
      { token: usdc, owner: agent, spender: someone, amount: 9n, kind: 'erc20' },
    ])
    expect(seen.transfers).toEqual([])
  })

  test('wrapping mints and unwrapping burns, besides the native legs', async () => {
    const data = encodeFunctionData({ abi: devWrappedNative.abi, functionName: 'deposit' })
    const seen = await simulate(call(weth, data, 3n))
    const zero = '0x0000000000000000000000000000000000000000'
    expect(seen.transfers).toHaveLength(2)
    expect(seen.transfers).toEqual(
      expect.arrayContaining([
        { token: null, from: agent, to: weth, amount: 3n, kind: 'native' },
        { token: weth, from: zero, to: agent, amount: 3n, kind: 'erc20' },
      ]),
    )
  })

  test('a revert says why and moves nothing', async () => {
    const seen = await simulate(usdcCall('transfer', [someone, 101n]))
    expect(seen).toMatchObject({
      success: false,
      failure: 'reverted',
      revertReason: expect.stringContaining('ERC20InsufficientBalance: sender'),
      transfers: [],
      approvals: [],
    })
  })

  test('more value than there is', async () => {
    const seen = await simulate(call(someone, '0x', 10n ** 30n))
    expect(seen).toMatchObject({ success: false, failure: 'insufficient-funds' })
  })

  test('state overrides are honoured', async () => {
    const seen = await simulate(call(someone, '0x', 10n ** 30n), {
      [agent]: { balance: 10n ** 31n },
    })
    expect(seen.success).toBe(true)
  })

  test('a contract that logs without end is reported as truncated, in bounded size', async () => {
    // Loop of LOG0 until the gas runs low, then stop: jumpdest log0(0,0) gas > 20000 jumpi stop.
    const noisy = '0x5b5f5fa0614e205a1160005700'
    const seen = await simulate(call(someone, '0x'), { [someone]: { code: noisy } })
    expect(seen.success).toBe(true)
    expect(seen.truncated).toBe(true)
  })
})
