import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseReceipt } from '../../src/chains/receipts.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { NATIVE_DECIMALS } from '../../src/domain/chains.js'
import type { Hex } from '../../src/domain/ids.js'
import { formatUsd, valueUsdMicros } from '../../src/domain/money.js'
import { simulateTransaction } from '../../src/valuation/simulate-transaction.js'
import { preparedSend, START_MS, txIdOf, WEI_PER_MICRO } from '../actors/wallet-fixtures.js'
import { openWallet, spentBy } from '../core/wallet-world.js'
import { type Call, callOf } from './scenario.js'
import {
  ETHER,
  execute,
  NATIVE_USD,
  startWorld,
  stranger,
  type Wallet,
  type World,
} from './world.js'

const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F'
/** Three dollars a transaction: more than its gas. */
const L1_FEE_WEI = ETHER / 1_000n
/** With the half that is added to a bound which no transaction can fix. */
const L1_BOUND_WEI = (L1_FEE_WEI * 3n) / 2n

let world: World
let wallet: Wallet

beforeAll(async () => {
  world = await startWorld(10)
  const word = L1_FEE_WEI.toString(16).padStart(64, '0')
  // Returns the fee, whatever it is asked.
  await world.anvil.rpc('anvil_setCode', [GAS_PRICE_ORACLE, `0x7f${word}60005260206000f3`])
  wallet = await world.createWallet()
}, 300_000)
afterAll(() => world.stop())

const moving = (functionName: 'transfer' | 'approve', amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [stranger, amount] })

/** Of those that need no run, and of one that is run. */
const CALLS: Readonly<Record<string, () => Call>> = {
  'a plain transfer': () => callOf(stranger, '0x', 1n),
  'a transfer of a token': () => callOf(world.usdc, moving('transfer', 1n)),
  'a call that is run': () => callOf(world.unknown, moving('approve', 0n)),
}

const microsOf = (wei: bigint) => valueUsdMicros(wei, NATIVE_DECIMALS, NATIVE_USD * 10n ** 8n, 8)

async function quoted(call: Call) {
  const quote = await world.quoter.quote({ chainId: 10, from: wallet.address, ...call })
  if (!quote.ok) throw new Error(quote.fault.code)
  return quote
}

describe('where a chain charges for its data on another', () => {
  test.each(Object.entries(CALLS))('%s reserves it with the gas', async (_, call) => {
    const { gasLimit, fees, basis, valuation } = await quoted(call())
    const executionWei = gasLimit * fees.maxFeePerGas
    expect(basis.maxFeeWei).toBeGreaterThanOrEqual(executionWei + L1_BOUND_WEI)
    expect(valuation.gasMicros).toBe(microsOf(basis.maxFeeWei))
  })

  test.each(Object.entries(CALLS))('%s is shown with it', async (_, call) => {
    const asked = { chainId: 10, from: wallet.address, ...call() }
    const forecast = await simulateTransaction(world, asked)
    if (!forecast.ok) throw new Error(forecast.fault.code)
    const { answer, gasMicros, spendMicros } = forecast.value
    expect(BigInt(answer.max_fee_native_wei)).toBeGreaterThanOrEqual(L1_BOUND_WEI)
    expect(gasMicros).toBe(microsOf(BigInt(answer.max_fee_native_wei)))
    expect(spendMicros).toBeGreaterThanOrEqual(gasMicros)
    expect(formatUsd(gasMicros)).not.toBe('0.00')
  })

  test.each(Object.entries(CALLS))(
    '%s is refused where it pays for the gas only',
    async (_, call) => {
      const poor = await world.createWallet()
      const asked = { chainId: 10, from: poor.address, ...call() }
      const { gasLimit, fees } = await quoted(call())
      const gasOnly = gasLimit * fees.maxFeePerGas * 2n + 1n
      await world.anvil.rpc('anvil_setBalance', [poor.address, `0x${gasOnly.toString(16)}`])
      expect(gasOnly).toBeLessThan(L1_BOUND_WEI)
      const quote = await world.quoter.quote(asked)
      expect(quote.ok && quote.problem).toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    },
  )

  test('what its receipt says was charged is what is spent', async () => {
    const call = callOf(stranger, '0x', 1n)
    const { gasLimit, fees } = await quoted(call)
    const receipt = await execute(world, wallet, call, { gasLimit, fees })
    // As such a chain answers: the fee stands beside the gas.
    const charged = L1_FEE_WEI / 3n
    const plain = parseReceipt(receipt)
    const parsed = parseReceipt({ ...receipt, l1Fee: `0x${charged.toString(16)}` })
    if (plain === null || parsed === null) throw new Error('no receipt')
    expect(parsed.feeWei).toBe(plain.gasUsed * plain.effectiveGasPrice + charged)

    const micros = charged / WEI_PER_MICRO
    const owned = await openWallet(10n * micros)
    const sent = preparedSend(1, 50n)
    if (!sent.quote.ok) throw new Error('no quote')
    const valuation = { ...sent.quote.valuation, gasMicros: 2n * micros }
    await owned.handle({ ...sent, quote: { ...sent.quote, valuation } }, 1)
    const of = { txId: txIdOf(1), nowMs: START_MS }
    const clean = { refusal: null, screenedAgainst: [], requoted: null } as const
    await owned.handle({ type: 'screened', ...of, ...clean })
    const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: START_MS } as const
    await owned.handle({ type: 'signed', ...of, nonce: 0, signed: { txHash: '0x01', ...bytes } })
    const { blockNumber, blockHash, feeWei } = parsed
    const block = { txHash: '0x01', blockNumber, blockHash, outcome: 'success', feeWei } as const
    await owned.handle({ type: 'confirmed', ...of, mined: block })
    expect(spentBy(owned)).toMatchObject({
      dayMicros: 50n + (feeWei + WEI_PER_MICRO - 1n) / WEI_PER_MICRO,
      reservedMicros: 0n,
    })
  })
})
