import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { AllowanceEntry } from '../../src/domain/allowance.js'
import type { Address, TxId } from '../../src/domain/ids.js'
import { formatUsd } from '../../src/domain/money.js'
import { revokeCalls } from '../../src/valuation/allowances.js'
import { readLiveAllowances } from '../../src/valuation/live-allowances.js'
import { simulateTransaction } from '../../src/valuation/simulate-transaction.js'
import { PERMIT2 } from '../../src/valuation/well-known.js'
import { type Call, callOf, FAR_AWAY, thieving, UNLIMITED } from './scenario.js'
import {
  execute,
  itemsAbi,
  permit2Abi,
  startWorld,
  stranger,
  type Wallet,
  type World,
} from './world.js'

const TX = 'tx_00000000000000000000000000' as TxId

let world: World
let wallet: Wallet
beforeAll(async () => {
  world = await startWorld()
}, 300_000)
afterAll(() => world.stop())
beforeEach(async () => {
  wallet = await world.createWallet()
})

const transfer = (to: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const approve = (spender: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

async function quoted(call: Call) {
  const quote = await world.quoter.quote({
    chainId: world.chainId,
    from: wallet.address,
    ...call,
  })
  if (!quote.ok) throw new Error(quote.fault.code)
  return quote
}

/** Of a token with 6 decimals at one dollar: its micro-USD. */
async function supplyOf(token: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'totalSupply' })
  return BigInt(String(await world.anvil.rpc('eth_call', [{ to: token, data }, 'latest'])))
}

describe('simulate_transaction', () => {
  async function forecast(call: Call) {
    const deps = { chains: world.chains, quoter: world.quoter }
    const result = await simulateTransaction(deps, {
      chainId: world.chainId,
      from: wallet.address,
      ...call,
    })
    if (!result.ok) throw new Error(result.fault.code)
    return result.value
  }

  test('a plain transfer is forecast to reserve to the micro-dollar what a send does', async () => {
    for (const call of [
      callOf(world.usdc, transfer(stranger, 5_000n)),
      callOf(stranger, '0x', 12_345n),
    ]) {
      const { valuation, basis: said } = await quoted(call)
      const { answer, spendMicros } = await forecast(call)
      expect(spendMicros).toBe(valuation.valueMicros + valuation.gasMicros)
      expect(answer.max_fee_native_wei).toBe(said.maxFeeWei.toString())
      expect(answer.asset_changes).toHaveLength(1)
    }
  })

  test('lists what moves, with symbols and values, and what a send would reserve', async () => {
    const { answer, spendMicros } = await forecast(callOf(world.usdc, transfer(stranger, 5_000n)))
    expect(answer).toMatchObject({
      success: true,
      revert_reason: null,
      asset_changes: [{ token: world.usdc, symbol: 'USDC', amount: '5000', usd_value: '0.005' }],
      approvals: [],
    })
    expect(spendMicros > 5_000n).toBe(true)
    expect(BigInt(answer.gas_used) > 21_000n).toBe(true)
    expect(BigInt(answer.max_fee_native_wei) > 0n).toBe(true)
  })

  test('lists approvals, and leaves collections without a value', async () => {
    const token = await forecast(callOf(world.usdc, approve(world.thief, UNLIMITED)))
    expect(token.answer.approvals).toEqual([
      {
        token: world.usdc,
        spender: world.thief,
        amount: UNLIMITED.toString(),
        usd_value: formatUsd(await supplyOf(world.usdc)),
      },
    ])
    const args = [world.thief, true] as const
    const data = encodeFunctionData({ abi: itemsAbi, functionName: 'setApprovalForAll', args })
    const collection = await forecast(callOf(world.collectible, data))
    expect(collection.answer.approvals).toMatchObject([{ amount: 'all', usd_value: null }])
    expect(collection.unpriced).toBe(true)
  })

  test('says why a call would revert', async () => {
    const { answer } = await forecast(thieving({ world, wallet }, 'failUnlessArmed', [world.usdc]))
    expect(answer).toMatchObject({
      success: false,
      revert_reason: 'not today',
      asset_changes: [],
    })
  })

  test('names tokens that nobody configured by their own symbol', async () => {
    const { answer } = await forecast(callOf(world.unknown, transfer(stranger, 7n)))
    expect(answer.asset_changes).toMatchObject([{ symbol: 'KIT', usd_value: null }])
  })
})

describe('the allowance ledger', () => {
  test('what calls approved is found live, ended by the calls it names, and then gone', async () => {
    const permit2 = encodeFunctionData({
      abi: permit2Abi,
      functionName: 'approve',
      args: [world.usdc, world.thief, 5n, Number(FAR_AWAY)],
    })
    const items = (functionName: 'approve' | 'setApprovalForAll', args: readonly unknown[]) =>
      encodeFunctionData({ abi: itemsAbi, functionName, args } as Parameters<
        typeof encodeFunctionData<typeof itemsAbi>
      >[0])
    const calls: readonly Call[] = [
      callOf(world.usdc, approve(world.thief, 7n)),
      callOf(world.kitchen, approve(world.friend, UNLIMITED)),
      callOf(PERMIT2, permit2),
      callOf(world.collectible, items('approve', [world.thief, wallet.itemId])),
      callOf(world.bundle, items('setApprovalForAll', [world.thief, true])),
      callOf(world.usdc, approve(world.friend, 3n)),
      callOf(world.usdc, approve(world.friend, 0n)),
    ]
    const entries: AllowanceEntry[] = []
    for (const call of calls) {
      const quote = await quoted(call)
      for (const { token, spender, kind, tokenId = null } of quote.basis.approvals) {
        entries.push({ chainId: world.chainId, token, spender, kind, tokenId, txId: TX })
      }
      await execute(world, wallet, call, quote)
    }
    expect(entries).toHaveLength(6)
    const chain = world.chains.get(world.chainId)
    if (chain === undefined) throw new Error('no chain')
    const nowSeconds = Math.floor(Date.now() / 1_000)
    const live = () => readLiveAllowances(chain, wallet.address, entries, nowSeconds)
    expect((await live()).map(({ entry, amount }) => [entry.kind, amount])).toEqual([
      ['erc20', 7n],
      ['erc20', UNLIMITED],
      ['permit2', 5n],
      ['erc721', 1n],
      ['collection', 'all'],
    ])
    for (const call of revokeCalls((await live()).map(({ entry }) => entry))) {
      const quote = await quoted(call)
      expect(quote.valuation.valueMicros).toBe(0n)
      expect(quote.unpriced).toBe(false)
      const receipt = await execute(world, wallet, call, quote)
      expect(receipt.status).toBe('0x1')
    }
    expect(await live()).toEqual([])
  })

  test('contracts that do not answer leave their approvals listed', async () => {
    const chain = world.chains.get(world.chainId)
    if (chain === undefined) throw new Error('no chain')
    const entry: AllowanceEntry = {
      chainId: world.chainId,
      token: world.thief,
      spender: stranger,
      kind: 'erc20',
      tokenId: null,
      txId: TX,
    }
    expect(await readLiveAllowances(chain, wallet.address, [entry], 0)).toEqual([
      { entry, amount: null },
    ])
  })
})
