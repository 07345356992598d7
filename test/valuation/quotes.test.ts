import { encodeFunctionData } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import { spendersOfEntries } from '../../src/domain/allowance.js'
import type { Address, Hex, TxId } from '../../src/domain/ids.js'
import { MICROS_PER_USD } from '../../src/domain/money.js'
import { createCallQuoter } from '../../src/valuation/call-quoter.js'
import type { CallQuote, QuotedCall, Quoter, UnminedCall } from '../../src/valuation/quoter.js'
import { simulateTransaction } from '../../src/valuation/simulate-transaction.js'
import { MULTICALL3 } from '../../src/valuation/well-known.js'
import { transact } from '../support/deploy.js'
import { type Call, callOf, thieving, UNLIMITED } from './scenario.js'
import {
  ETHER,
  itemsAbi,
  kitchenAbi,
  startWorld,
  stranger,
  type Wallet,
  type World,
} from './world.js'

let world: World
let wallet: Wallet
beforeAll(async () => {
  world = await startWorld()
}, 300_000)
afterAll(() => world.stop())
beforeEach(async () => {
  wallet = await world.createWallet()
})
afterEach(() => world.proxy.clear())

const transfer = (to: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const approve = (spender: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

function ask(quoter: Quoter, call: Call & Pick<QuotedCall, 'unmined'>) {
  return quoter.quote({ chainId: world.chainId, from: wallet.address, ...call })
}

async function quoted(call: Call, quoter = world.quoter) {
  const quote = await ask(quoter, call)
  if (!quote.ok) throw new Error(`${quote.fault.code}: ${String(quote.fault.details.reason)}`)
  return quote
}

/** The Router of the test's configuration has no code. */
const TRUSTING = { hasRouter: () => true }

function withoutSimulation(): Quoter {
  for (const method of ['eth_simulateV1', 'debug_traceCall']) {
    const fault = { kind: 'error', code: -32601, message: 'the method does not exist' } as const
    world.proxy.inject({ method, fault })
  }
  return createCallQuoter(world.chains, world.prices, TRUSTING)
}

/** What a quote asks the node. */
async function asked(quote: () => CallQuote | Promise<CallQuote>): Promise<readonly string[]> {
  const before = world.proxy.seen.length
  const answer = quote()
  const waits = answer instanceof Promise
  const { ok } = await answer
  expect(ok).toBe(true)
  const seen = world.proxy.seen.slice(before)
  if (seen.length === 0) expect(waits).toBe(false)
  return seen
}

describe('what a quote asks of the chain', () => {
  test('a plain transfer asks nothing and answers at once while caches are warm', async () => {
    const native = callOf(stranger, '0x', 1n)
    const token = callOf(world.usdc, transfer(stranger, 1n))
    for (const call of [native, token]) {
      await quoted(call)
      expect(await asked(() => ask(world.quoter, call))).toEqual([])
      expect(await asked(() => ask(world.quoter, call))).toEqual([])
    }
  })

  test('any other call asks once more when the wallet’s spenders are known', async () => {
    const quoter = createCallQuoter(world.chains, world.prices, {
      ...TRUSTING,
      knownSpenders: () => spendersOfEntries([]),
    })
    const call = thieving({ world, wallet }, 'forward', [stranger], 1n)
    await quoted(call, quoter)
    expect(await asked(() => ask(quoter, call))).toEqual(['eth_simulateV1'])
  })

  test('and reads all allowances in one call more when they are not', async () => {
    const call = thieving({ world, wallet }, 'forward', [stranger], 1n)
    await quoted(call)
    expect(await asked(() => ask(world.quoter, call))).toEqual(['eth_simulateV1', 'eth_call'])
  })

  test('a known spender that is touched is read', async () => {
    const quoter = createCallQuoter(world.chains, world.prices, {
      ...TRUSTING,
      knownSpenders: () => new Set([world.thief.toLowerCase()]),
    })
    await transact(world.anvil, {
      from: wallet.address,
      to: world.usdc,
      data: approve(world.thief, 40_000_000n),
    })
    const quote = await quoted(thieving({ world, wallet }, 'nothing'), quoter)
    expect(quote.valuation.valueMicros).toBe(40n * MICROS_PER_USD)
  })
})

describe('by whatever the chain offers', () => {
  async function allow(spender: Address, amount: bigint): Promise<void> {
    const data = approve(spender, amount)
    await transact(world.anvil, { from: wallet.address, to: world.usdc, data })
  }

  test('debug_traceCall values as eth_simulateV1 does', async () => {
    await allow(world.thief, 60_000_000n)
    const calls = [
      thieving({ world, wallet }, 'forward', [stranger], ETHER),
      thieving({ world, wallet }, 'claimRewards', [world.usdc]),
      callOf(world.usdc, approve(world.friend, 5_000_000n)),
    ]
    const first = await Promise.all(calls.map((call) => quoted(call)))
    const fault = { kind: 'error', code: -32601, message: 'the method does not exist' } as const
    world.proxy.inject({ method: 'eth_simulateV1', fault })
    const quoter = createCallQuoter(world.chains, world.prices, TRUSTING)
    for (const [i, call] of calls.entries()) {
      const quote = await quoted(call, quoter)
      expect(quote.basis.simulated).toBe(true)
      expect(quote.valuation.valueMicros).toBe(first[i]?.valuation.valueMicros)
    }
    expect(first[1]?.valuation.valueMicros).toBe(60n * MICROS_PER_USD)
  })

  test('without Multicall3 allowances are read one by one, in one batch', async () => {
    await allow(world.thief, 60_000_000n)
    const reads = world.chains.get(world.chainId)?.reads
    const code = await world.anvil.rpc('eth_getCode', [MULTICALL3, 'latest'])
    await world.anvil.rpc('anvil_setCode', [MULTICALL3, '0x'])
    await reads?.account(MULTICALL3, 0)
    const quote = await quoted(thieving({ world, wallet }, 'claimRewards', [world.usdc]))
    await world.anvil.rpc('anvil_setCode', [MULTICALL3, code])
    await reads?.account(MULTICALL3, 0)
    expect(quote.valuation.valueMicros).toBe(60n * MICROS_PER_USD)
  })

  test('allowances that cannot be read refuse the call', async () => {
    const fault = { kind: 'error', code: 3, message: 'execution reverted' } as const
    world.proxy.inject({ method: 'eth_call', fault })
    const quote = await ask(world.quoter, thieving({ world, wallet }, 'nothing'))
    expect(quote).toMatchObject({ ok: false, fault: { code: 'CHAIN_UNAVAILABLE' } })
  })
})

describe('what calls are worth', () => {
  async function worthUsd(call: Call): Promise<number> {
    return Number((await quoted(call)).valuation.valueMicros) / Number(MICROS_PER_USD)
  }

  test('transfers are worth their amount, to the micro-dollar', async () => {
    expect(await worthUsd(callOf(stranger, '0x', ETHER))).toBe(3_000)
    expect(await worthUsd(callOf(world.usdc, transfer(stranger, 1_234_567n)))).toBe(1.234567)
    expect(await worthUsd(callOf(world.kitchen, transfer(stranger, 1n)))).toBe(0.000001)
  })

  test('an approval is worth its amount, whatever the balance is', async () => {
    expect(await worthUsd(callOf(world.usdc, approve(world.thief, 400_000_000n)))).toBe(400)
    expect(await worthUsd(callOf(world.usdc, approve(world.thief, 4_000_000_000n)))).toBe(4_000)
    const unlimited = await quoted(callOf(world.usdc, approve(world.thief, UNLIMITED)))
    expect(unlimited.valuation.valueMicros).toBe(UNLIMITED)
    expect(await worthUsd(callOf(world.usdc, approve(world.thief, 0n)))).toBe(0)
  })

  test('approving our own Router is no spend', async () => {
    const router = world.config.router as Address
    expect(await worthUsd(callOf(world.usdc, approve(router, UNLIMITED)))).toBe(0)
  })

  test('what comes in never makes what goes out smaller', async () => {
    const deposit = encodeFunctionData({ abi: devWrappedNative.abi, functionName: 'deposit' })
    expect(await worthUsd(callOf(world.wrapped, deposit, ETHER))).toBe(3_000)
  })

  test('taking a collectible’s approval away is neither spend nor unpriced', async () => {
    const args = ['0x0000000000000000000000000000000000000000', wallet.itemId] as const
    const data = encodeFunctionData({ abi: itemsAbi, functionName: 'approve', args })
    const quote = await quoted(callOf(world.collectible, data))
    expect(quote.unpriced).toBe(false)
    expect(quote.valuation.valueMicros).toBe(0n)
  })

  test('the priced part of an unpriced call is valued anyway', async () => {
    const args = [wallet.address, stranger, wallet.itemId] as const
    const inner = encodeFunctionData({ abi: itemsAbi, functionName: 'transferFrom', args })
    const allow = encodeFunctionData({
      abi: itemsAbi,
      functionName: 'setApprovalForAll',
      args: [world.thief, true],
    })
    await transact(world.anvil, { from: wallet.address, to: world.collectible, data: allow })
    await transact(world.anvil, {
      from: wallet.address,
      to: world.usdc,
      data: approve(world.thief, 30_000_000n),
    })
    const scene = { world, wallet }
    const steps = [
      thieving(scene, 'execute', [world.collectible, inner]),
      thieving(scene, 'pull', [world.usdc, wallet.address, 20_000_000n]),
    ]
    const call = thieving(scene, 'multicall', [steps.map(({ data }) => data)])
    const quote = await quoted(call)
    expect(quote.unpriced).toBe(true)
    expect(quote.valuation.valueMicros).toBe(30n * MICROS_PER_USD)
  })

  test('gas is the run’s with room to spare, at the highest fee', async () => {
    const quote = await quoted(thieving({ world, wallet }, 'burnGas', [20n]))
    const { gasUsed, maxFeeWei } = quote.basis
    expect(quote.gasLimit).toBe(((gasUsed ?? 0n) * 13n) / 8n)
    expect(maxFeeWei).toBe(quote.gasLimit * quote.fees.maxFeePerGas)
    expect(quote.valuation.gasMicros > 0n).toBe(true)
  })

  test('everyone who would receive or spend is named for screening', async () => {
    const quote = await quoted(thieving({ world, wallet }, 'forward', [stranger], 5n))
    const named = quote.basis.recipients.map(({ address }) => address)
    expect(named).toEqual(expect.arrayContaining([world.thief, stranger]))
    const approving = await quoted(callOf(world.usdc, approve(stranger, 1n)))
    expect(approving.basis.recipients.map(({ address }) => address)).toContain(stranger)
  })

  test('a caller’s spelling of addresses changes nothing', async () => {
    const call = callOf(world.kitchen, transfer(stranger, ETHER))
    const quote = await world.quoter.quote({
      chainId: world.chainId,
      ...call,
      from: wallet.address.toLowerCase() as Address,
      to: call.to.toLowerCase() as Address,
    })
    expect(quote.ok && quote.valuation.valueMicros).toBe(2n * MICROS_PER_USD)
  })
})

describe('where no endpoint can simulate', () => {
  test('plain transfers and plain approvals of configured tokens are valued', async () => {
    const quoter = withoutSimulation()
    const native = await quoted(callOf(stranger, '0x', ETHER), quoter)
    expect(native.valuation.valueMicros).toBe(3_000n * MICROS_PER_USD)
    const approval = await quoted(callOf(world.usdc, approve(world.thief, UNLIMITED)), quoter)
    expect(approval.valuation.valueMicros).toBe(UNLIMITED)
  })

  test('everything else is refused, with the reason', async () => {
    const quoter = withoutSimulation()
    const quote = await ask(quoter, thieving({ world, wallet }, 'nothing'))
    expect(quote).toMatchObject({
      ok: false,
      fault: { code: 'PRICE_UNAVAILABLE', details: { chain_id: world.chainId } },
    })
  })

  test('a forecast of a plain transfer says what it moves', async () => {
    const quoter = withoutSimulation()
    const call = callOf(world.usdc, transfer(stranger, 2_000_000n))
    const deps = { chains: world.chains, quoter }
    const forecast = await simulateTransaction(deps, {
      chainId: world.chainId,
      from: wallet.address,
      ...call,
    })
    expect(forecast.ok && forecast.value.answer.asset_changes).toEqual([
      {
        token: world.usdc,
        symbol: 'USDC',
        from: wallet.address,
        to: stranger,
        amount: '2000000',
        usd_value: '2.00',
      },
    ])
  })
})

test('the encoding of a token’s batch hides nothing', async () => {
  const batch = (calls: readonly Hex[]) =>
    encodeFunctionData({ abi: kitchenAbi, functionName: 'multicall', args: [calls] })
  const quote = await quoted(
    callOf(world.kitchen, batch([batch([transfer(stranger, ETHER)]), transfer(stranger, ETHER)])),
  )
  expect(quote.valuation.valueMicros >= 4n * MICROS_PER_USD).toBe(true)
})

describe('a call behind others of its wallet that no block has', () => {
  const waiting = (data: Hex, nonce: number | null, n = 1): UnminedCall => ({
    ...{ txId: `tx_${n}` as TxId, nonce, to: world.usdc, value: 0n, data },
    gasLimit: 200_000n,
  })
  const behind = (unmined: readonly UnminedCall[], call: Call, quoter = world.quoter) =>
    ask(quoter, { ...call, unmined: () => unmined })
  const pull = () => thieving({ world, wallet }, 'pull', [world.usdc, wallet.address, 20_000_000n])

  test('is run after them, and so are the allowances that it may use', async () => {
    const unmined = [waiting(approve(world.thief, 30_000_000n), 0)]
    const quote = await behind(unmined, pull())
    if (!quote.ok) throw new Error(quote.fault.code)
    expect(quote.problem).toBeNull()
    expect(quote.basis.after).toEqual([unmined[0]?.txId])
    const [token] = quote.exposure?.tokens ?? []
    const standing = [{ spender: world.thief, kind: 'erc20', amount: 30_000_000n }]
    expect(token).toMatchObject({ ran: 20_000_000n, standing })
    expect((await quoted(pull())).problem?.code).toBe('SIMULATION_REVERTED')
  })

  test('is not run after what its block has already', async () => {
    for (const amount of [30_000_000n, 0n]) {
      const data = approve(world.thief, amount)
      await transact(world.anvil, { from: wallet.address, to: world.usdc, data })
    }
    const again = [waiting(approve(world.thief, 30_000_000n), 0)]
    expect(await behind(again, pull())).toMatchObject({ problem: { code: 'SIMULATION_REVERTED' } })
    const more = [...again, waiting(approve(world.thief, 30_000_000n), null, 2)]
    expect(await behind(more, pull())).toMatchObject({ ok: true, problem: null })
  })

  test('is refused where no endpoint can run calls one after the other', async () => {
    const fault = { kind: 'error', code: -32601, message: 'the method does not exist' } as const
    world.proxy.inject({ method: 'eth_simulateV1', fault })
    const quoter = createCallQuoter(world.chains, world.prices, TRUSTING)
    const unmined = [waiting(approve(world.thief, 30_000_000n), 0)]
    const refused = await behind(unmined, pull(), quoter)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'CHAIN_UNAVAILABLE' } })
    expect((await quoted(thieving({ world, wallet }, 'arm', [true]), quoter)).ok).toBe(true)
  })

  test('is refused behind more of them than are run', async () => {
    const many = Array.from({ length: 33 }, (_, i) => waiting(approve(stranger, 1n), i, i))
    const refused = await behind(many, pull())
    expect(refused).toMatchObject({ ok: false, fault: { code: 'OVERLOADED' } })
  })

  test('asks nobody about them when it is a plain transfer', async () => {
    const call = callOf(world.usdc, transfer(stranger, 1n))
    await quoted(call)
    const unmined = () => {
      throw new Error('asked')
    }
    expect(await ask(world.quoter, { ...call, unmined })).toMatchObject({ ok: true })
  })
})

describe('a call that the wallet cannot pay', () => {
  const held = 10n * ETHER
  const tokens = 1_000_000_000n

  test('shows what there is and what it takes: native currency, with its gas', async () => {
    for (const quoter of [world.quoter, withoutSimulation()]) {
      for (const value of [held, held + ETHER]) {
        const { problem } = await quoted(callOf(stranger, '0x', value), quoter)
        expect(problem).toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
        expect(problem?.details).toMatchObject({ token: null, have: held.toString() })
        expect(BigInt(String(problem?.details.need))).toBeGreaterThan(value)
      }
    }
  })

  test('shows the token, what there is of it and what it takes', async () => {
    const call = callOf(world.usdc, transfer(stranger, tokens + 1n))
    expect((await quoted(call)).problem).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { token: world.usdc, have: `${tokens}`, need: `${tokens + 1n}` },
    })
  })

  test('shows what is lacking also where its calldata has to be run', async () => {
    const call = { ...callOf(world.usdc, approve(stranger, 1n)), value: held + ETHER }
    const { problem } = await quoted(call)
    expect(problem).toMatchObject({ code: 'INSUFFICIENT_FUNDS', details: { token: null } })
    expect(BigInt(String(problem?.details.need))).toBeGreaterThan(held + ETHER)
  })
})
