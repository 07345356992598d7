import { encodeFunctionData, erc20Abi } from 'viem'
import { expect, test } from 'vitest'
import { spentBy } from '../../actors/sub-wallet/core/transaction-record.js'
import type { Simulation } from '../../src/chains/simulate/simulation.js'
import type { TokenConfig } from '../../src/config/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import type { ChainView } from '../../src/valuation/chain-view.js'
import { createFirstTransferChecks, movedNothing } from '../../src/valuation/moved-nothing.js'

const TOKEN: Address = '0x00000000000000000000000000000000000000A1'
const WALLET: Address = '0x00000000000000000000000000000000000000b2'
const OTHER: Address = '0x00000000000000000000000000000000000000C3'

function transfer(amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, amount] })
}

const token = { address: TOKEN, symbol: 'A', decimals: 6 } as TokenConfig

function transferFrom(payer: Address, amount: bigint): Hex {
  const args = [payer, OTHER, amount] as const
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
}

const call = { chainId: 1, from: WALLET, to: TOKEN, value: 0n, data: transfer(5n) }
const nothing: Simulation = {
  ...{ success: true, failure: null, revertReason: null, gasUsed: 30_000n },
  ...{ transfers: [], approvals: [], touched: [TOKEN], truncated: false },
}
const moving: Simulation = {
  ...nothing,
  transfers: [{ token: TOKEN, from: WALLET, to: OTHER, amount: 5n, kind: 'erc20' }],
}

const forwarded: Simulation = {
  ...nothing,
  transfers: [{ token: OTHER, from: WALLET, to: OTHER, amount: 5n, kind: 'erc20' }],
}

/** A chain on which a run shows this, and that counts its runs. */
function chainOf(shown: () => Simulation | null, isToken = true) {
  let runs = 0
  const simulate = () => {
    runs++
    return Promise.resolve(shown())
  }
  const reads = { tokenMetadata: async () => (isToken ? { decimals: 6, symbol: '' } : null) }
  const chain = { simulator: { simulate }, reads }
  const view = { chain, isConfigured: () => false } as unknown as ChainView
  return { view, runs: () => runs }
}

const REVERTED = { code: 'SIMULATION_REVERTED' }

test('a transfer that runs and moves nothing of a token is refused, with the reason', async () => {
  const { view } = chainOf(() => nothing)
  const refused = await movedNothing(view, call, nothing)
  expect(refused).toMatchObject({
    ...REVERTED,
    details: { reason: expect.stringContaining('false') },
  })
})

test('so is a transferFrom that moves nothing of whom it names', async () => {
  const { view } = chainOf(() => nothing)
  const asked = { ...call, data: transferFrom(WALLET, 5n) }
  expect(await movedNothing(view, asked, nothing)).toMatchObject(REVERTED)
  expect(await movedNothing(view, asked, moving)).toBeNull()
  const ofOthers = { ...call, data: transferFrom(OTHER, 5n) }
  expect(await movedNothing(view, ofOthers, moving)).toMatchObject(REVERTED)
})

test.each<[string, typeof call, Simulation | null, boolean]>([
  ['moves', call, moving, true],
  ['is of nothing', { ...call, data: transfer(0n) }, nothing, true],
  ['brings native currency', { ...call, value: 1n }, nothing, true],
  ['is logged by the successor of its token', call, forwarded, true],
  ['was not run', call, null, true],
  ['reverts', call, { ...nothing, success: false }, true],
  ['was run in part', call, { ...nothing, truncated: true }, true],
  ['is of no token', call, nothing, false],
  ['is another function', { ...call, data: '0x12345678' }, nothing, true],
])('a transfer that %s is not refused for it', async (_name, asked, simulation, isToken) => {
  expect(await movedNothing(chainOf(() => simulation, isToken).view, asked, simulation)).toBeNull()
})

test('a token is run until a transfer of it was seen to move, and never again', async () => {
  let shown = nothing
  const { view, runs } = chainOf(() => shown)
  const looks = createFirstTransferChecks(() => 0)
  expect(await looks.before(view, call, token)).toMatchObject(REVERTED)
  expect(await looks.before(view, call, token)).toMatchObject(REVERTED)
  shown = moving
  expect(await looks.before(view, call, token)).toBeNull()
  expect(runs()).toBe(3)
  expect(looks.before(view, call, token)).toBeNull()
  expect(runs()).toBe(3)
})

test('a chain whose nodes run nothing is asked once a minute, and its transfers go on', async () => {
  let nowMs = 0
  const { view, runs } = chainOf(() => null)
  const looks = createFirstTransferChecks(() => nowMs)
  expect(await looks.before(view, call, token)).toBeNull()
  expect(looks.before(view, call, token)).toBeNull()
  nowMs = 60_000
  await looks.before(view, call, token)
  expect(runs()).toBe(2)
})

test('a mined transfer of which no token left the wallet gives its value back and keeps the gas', () => {
  const nativePrice = { nativePrice: 1_000n, nativePriceDecimals: 0 }
  const valuation = { valueMicros: 2_000_000_000n, gasMicros: 0n, ...nativePrice }
  const mined: MinedIn = {
    ...{ txHash: '0x01', blockNumber: 1, blockHash: '0x02', outcome: 'success' as const },
    feeWei: 10n ** 15n,
  }
  const tx = { from: WALLET, call, attempts: [], valuation } as unknown as Transaction
  expect(spentBy(tx, mined)).toBe(2_001_000_000n)
  expect(spentBy(tx, { ...mined, isStill: true })).toBe(1_000_000n)
  const sent = (data: Hex, value = 0n) =>
    spentBy({ ...tx, call: { ...call, data, value } }, { ...mined, isStill: true })
  expect(sent(transferFrom(WALLET, 5n))).toBe(1_000_000n)
  expect(sent(transferFrom(OTHER, 5n)), 'of another account').toBe(2_001_000_000n)
  expect(sent(transfer(5n), 1n), 'with native currency').toBe(2_001_000_000n)
  expect(sent('0x12345678'), 'another call').toBe(2_001_000_000n)
})
