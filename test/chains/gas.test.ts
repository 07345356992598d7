import { encodeFunctionData, getAddress, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGasPlanner, type GasPlanner } from '../../src/chains/gas.js'
import { createChainReads } from '../../src/chains/reads.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import devToken from '../../src/contracts/generated/dev-token.json' with { type: 'json' }
import type { ChainId } from '../../src/domain/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { NO_SIDE_FEE, sideFeeWei, worstCaseFeeWei } from '../../src/domain/transaction-fee.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { type ChainAccount, fundedAccount } from '../support/chain-account.js'
import { chainConfig } from '../support/chain-config.js'
import { DEPLOYER, deploy } from '../support/deploy.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

const CHAINS = [10, 42161, 137] as const
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F'
const someone = getAddress('0x00000000000000000000000000000000000abcde')
const erc20 = parseAbi(['function transfer(address to, uint256 value)'])

const anvils = new Map<number, Anvil>()
let proxy: FaultProxy
let rpc: RpcClient
let planner: GasPlanner
let sender: ChainAccount
let token: Address

async function use(chainId: ChainId): Promise<Anvil> {
  await rpc?.close()
  await proxy?.close()
  const anvil = anvils.get(chainId)
  if (anvil === undefined) throw new Error('no such chain')
  proxy = await startFaultProxy({ upstream: anvil.url })
  rpc = createRpcClient({ chainId, endpoints: [proxy.url] })
  sender = await fundedAccount(anvil, 700)
  token = await deploy(anvil, {
    abi: devToken.abi,
    bytecode: devToken.bytecode,
    args: ['Dev', 'DEV', DEPLOYER],
  })
  const config = chainConfig(chainId, {
    tokens: [
      { address: token, symbol: 'DEV', decimals: 18, feed: null, transfer_gas_limit: 90_000 },
    ],
  })
  planner = createGasPlanner(rpc, createChainReads(rpc), config)
  await rpc.request('eth_chainId', [])
  return anvil
}

function call(to: Address, data: Hex = '0x', value = 0n) {
  return { from: sender.address as Address, to, data, value }
}

beforeAll(async () => {
  for (const id of CHAINS) anvils.set(id, await startAnvil({ chainId: id }))
})
afterAll(async () => {
  await rpc?.close()
  await proxy?.close()
  await Promise.all([...anvils.values()].map((anvil) => anvil.stop()))
})

describe('gas limits', () => {
  beforeEach(() => use(137))

  test('a plain transfer to an account without code takes 21,000, at once when known', async () => {
    expect(await planner.gasLimitFor(call(someone, '0x', 1n))).toEqual({ ok: true, gas: 21_000n })
    expect(planner.gasLimitFor(call(someone, '0x', 1n))).toEqual({ ok: true, gas: 21_000n })
  })

  test('a transfer to a contract, a precompile or a delegated account is estimated', async () => {
    const delegated = getAddress('0x00000000000000000000000000000000000D0D0d')
    await anvils.get(137)?.rpc('anvil_setCode', [delegated, `0xef0100${someone.slice(2)}`])
    const identity = '0x0000000000000000000000000000000000000004'
    for (const to of [delegated, identity] as const) {
      const limit = await planner.gasLimitFor(call(to, '0x', 1n))
      expect(limit.ok && limit.gas > 21_000n).toBe(true)
    }
    expect(await planner.gasLimitFor(call(token, '0x', 1n))).toMatchObject({
      ok: false,
      cause: 'reverted',
    })
  })

  test('a configured token takes its own limit without asking', async () => {
    const data = encodeFunctionData({ abi: erc20, args: [someone, 1n] })
    expect(planner.gasLimitFor(call(token, data))).toEqual({ ok: true, gas: 90_000n })
    // Another function of the same token is not its transfer.
    const limit = await planner.gasLimitFor(call(token, `${data}00`))
    expect(limit).toMatchObject({ ok: false, cause: 'reverted' })
  })

  test('anything else is the estimate and thirty per cent', async () => {
    const approve = `0x095ea7b3${someone.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` as Hex
    const exact = BigInt(
      await rpc.request<Hex>('eth_estimateGas', [
        { from: sender.address, to: token, data: approve },
      ]),
    )
    expect(await planner.gasLimitFor(call(token, approve))).toEqual({
      ok: true,
      gas: (exact * 13n) / 10n,
    })
  })

  test('no estimate goes above what the registry pins for the chain', async () => {
    const config = chainConfig(CHAINS[2], { max_gas_limit: 40_000 })
    const pinned = createGasPlanner(rpc, createChainReads(rpc), config)
    const approve = `0x095ea7b3${someone.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` as Hex
    expect(await pinned.gasLimitFor(call(token, approve))).toEqual({ ok: true, gas: 40_000n })
  })

  test('a revert and a lack of funds are told apart', async () => {
    const data = encodeFunctionData({ abi: erc20, args: [someone, 1n] })
    const longer = `${data}00` as Hex
    const reverted = await planner.gasLimitFor(call(token, longer))
    expect(reverted).toMatchObject({
      ok: false,
      cause: 'reverted',
      reason: expect.stringContaining('ERC20InsufficientBalance: sender'),
    })
    const approve = `0x095ea7b3${'1'.padStart(64, '0')}${'1'.padStart(64, '0')}` as Hex
    const poor = await planner.gasLimitFor(call(token, approve, 10n ** 30n))
    expect(poor).toMatchObject({ ok: false, cause: 'insufficient-funds' })
  })
})

describe('Arbitrum', () => {
  beforeEach(() => use(42161))

  test('estimates even plain and token transfers: L1 data counts as gas there', async () => {
    const plain = await planner.gasLimitFor(call(someone, '0x', 1n))
    expect(plain.ok && plain.gas).toBe(27_300n)
    const data = encodeFunctionData({ abi: erc20, args: [someone, 0n] })
    const transfer = await planner.gasLimitFor(call(token, data))
    expect(transfer.ok && transfer.gas !== 90_000n).toBe(true)
  })
})

describe('the OP stack’s L1 data fee', () => {
  test('is nothing without the oracle, and bounded by it with half again when it is there', async () => {
    const anvil = await use(10)
    expect(await planner.sideFee(120)).toEqual(NO_SIDE_FEE)
    // Returns 1,000 + the size it was asked for.
    await anvil.rpc('anvil_setCode', [GAS_PRICE_ORACLE, '0x6004356103e80160005260206000f3'])
    await use(10)
    expect(await planner.sideFee(120)).toMatchObject({ dataWei: ((1_000n + 256n) * 3n) / 2n })
    expect(planner.sideFee(256)).toMatchObject({ dataWei: ((1_000n + 256n) * 3n) / 2n })
    const larger = await planner.sideFee(257)
    expect(larger.dataWei).toBe(((1_000n + 512n) * 3n) / 2n)
    // The operator fee of so much gas, by the same code: 1,000 and what it was asked for.
    expect(sideFeeWei(21_000n, larger)).toBe(larger.dataWei + 1_000n + 21_000n)
    expect(worstCaseFeeWei(21_000n, 7n, larger)).toBe(147_000n + sideFeeWei(21_000n, larger))
  })

  test('does not exist elsewhere', async () => {
    await use(137)
    expect(planner.sideFee(120)).toBe(NO_SIDE_FEE)
  })
})
