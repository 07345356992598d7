import { encodeAbiParameters, getAddress, toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import type { ReceiptLog } from '../../src/chains/receipts.js'
import type { SimulatedApproval, SimulatedTransfer } from '../../src/chains/simulate/simulation.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../../src/domain/ids.js'
import type { Price } from '../../src/pricing/price-source.js'
import type { ChainView } from '../../src/valuation/chain-view.js'
import { PriceBook } from '../../src/valuation/price-book.js'
import { createReceiptValuer, type MinedCall } from '../../src/valuation/receipt-valuer.js'
import { predictedFromLogs, spendFromLogs } from '../../src/valuation/spend-from-logs.js'
import { MULTICALL3 } from '../../src/valuation/well-known.js'

const wallet = getAddress('0x00000000000000000000000000000000000a6e47')
const usdc = getAddress('0x00000000000000000000000000000000000000c1')
const weth = getAddress('0x00000000000000000000000000000000000000c2')
const account = getAddress('0x00000000000000000000000000000000000000d1')
const router = getAddress('0x00000000000000000000000000000000000000d2')
const pool = getAddress('0x00000000000000000000000000000000000000d3')
const stranger = getAddress('0x00000000000000000000000000000000000abcde')

const dollars = (value: bigint): Price => ({ value, decimals: 0, updatedAtMs: 0, source: 'test' })
const PRICED = new Map([
  [usdc.toLowerCase(), { address: usdc, decimals: 6 }],
  [weth.toLowerCase(), { address: weth, decimals: 18 }],
])
const PRICES = new Map<string, Price>([
  ['native', dollars(1_000n)],
  [usdc.toLowerCase(), dollars(1n)],
  [weth.toLowerCase(), dollars(1_000n)],
])
const config = { id: 8453, wrapped_native: weth }
const view = { chain: { config } } as unknown as ChainView
const USD = 1_000_000n
/** A dollar's worth of native currency. */
const WEI = 10n ** 15n

const moved = (token: Address | null, from: Address, to: Address, amount: bigint) =>
  ({ token, from, to, amount, kind: token === null ? 'native' : 'erc20' }) as const

interface Said {
  readonly value?: bigint
  readonly data?: Hex
  readonly approvals?: readonly SimulatedApproval[]
  readonly supplies?: ReadonlyMap<string, bigint>
}

function shown(transfers: readonly SimulatedTransfer[], said: Said = {}): bigint {
  const { value = 0n, data = '0x', approvals = [], supplies = new Map() } = said
  const call = { from: wallet, to: router, value, data }
  return spendFromLogs(
    view,
    call,
    { transfers, approvals },
    supplies,
    new PriceBook(PRICED, PRICES),
  )
}

test('what a third contract pays a stranger is shown in full, also once it is unwrapped', () => {
  expect(shown([moved(usdc, account, stranger, 400n * USD)])).toBe(400n * USD)
  const unwrapped = [
    moved(weth, account, stranger, 400n * WEI),
    moved(weth, stranger, ZERO_ADDRESS, 400n * WEI),
  ]
  expect(shown(unwrapped)).toBe(400n * USD)
})

test('a swap of native currency that is wrapped on its way shows nothing', () => {
  const swap = [
    moved(weth, ZERO_ADDRESS, router, 400n * WEI),
    moved(weth, router, pool, 400n * WEI),
    moved(usdc, pool, wallet, 399n * USD),
  ]
  expect(shown(swap, { value: 400n * WEI })).toBe(0n)
})

test('a swap for native currency that is unwrapped on its way shows nothing', () => {
  const swap = [
    moved(usdc, wallet, pool, 400n * USD),
    moved(weth, pool, router, 400n * WEI),
    moved(weth, router, ZERO_ADDRESS, 400n * WEI),
  ]
  expect(shown(swap)).toBe(0n)
})

test('native transfers that a run shows and logs do not are left out', () => {
  expect(shown([moved(null, account, stranger, 400n * WEI)])).toBe(0n)
})

test('what a third contract approves a stranger is shown, and no more than there is', () => {
  const approvals = [
    { token: usdc, owner: account, spender: stranger, amount: 2n ** 256n - 1n, kind: 'erc20' },
  ] as const
  const data: Hex = `0x${stranger.slice(2).padStart(64, '0')}`
  const supplies = new Map([[usdc.toLowerCase(), 700n * USD]])
  expect(shown([], { data, approvals, supplies })).toBe(700n * USD)
})

test('a sale among strangers for native currency hides nothing that is paid in its place', () => {
  const others = { countedMicros: 0n, paidMicros: 0n }
  expect(predictedFromLogs(400n * USD, others)).toBe(0n)
  expect(predictedFromLogs(400n * USD, { ...others, countedMicros: 400n * USD })).toBe(400n * USD)
  // What the wallet pays may become native currency on the way, and something else again.
  expect(predictedFromLogs(100n * USD, { ...others, paidMicros: 300n * USD })).toBe(100n * USD)
})

const word = (address: Address): Hex => encodeAbiParameters([{ type: 'address' }], [address])
const uint = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const LOG: ReceiptLog = {
  address: usdc,
  topics: [TRANSFER, word(account), word(stranger)],
  data: uint(400n * USD),
}

/** Of one chain, whose node has the receipt in block `0xb1`. */
function valuer(prices: ReadonlyMap<string, Price>, last: ReadonlyMap<string, Price> = new Map()) {
  const asked: string[][] = []
  const reads = {
    async receiptOf(_: Hex, emitters: ReadonlySet<string>) {
      asked.push([...emitters])
      return { blockHash: '0xb1', logs: [LOG] }
    },
  }
  const chain = { config, reads }
  const ours = { chain, priced: PRICED, lastPrices: new Map(last), vaults: async () => new Map() }
  const source = {
    price: (_: number, token: string) =>
      prices.get(token === 'native' ? token : token.toLowerCase()) ?? { unavailable: 'stale' },
    close() {},
  } as const
  const views = new Map([[8453, ours as unknown as ChainView]])
  return { receipts: createReceiptValuer(source, views), asked }
}

const MINED: MinedCall = {
  chainId: 8453,
  from: wallet,
  to: account,
  value: 0n,
  data: '0x',
  txHash: '0x01',
  blockHash: '0xb1',
}

test('a receipt of another block says nothing yet', async () => {
  const { receipts } = valuer(PRICES)
  expect(await receipts.shownBy({ ...MINED, blockHash: '0xb2' })).toBeNull()
  expect(await receipts.shownBy(MINED)).toEqual({ shownMicros: 400n * USD, unvalued: null })
})

test('only what has a price is read of a receipt, so that many logs hide nothing', async () => {
  const { receipts, asked } = valuer(PRICES)
  await receipts.shownBy(MINED)
  expect(asked[0]).toEqual(expect.arrayContaining([usdc.toLowerCase(), weth.toLowerCase()]))
  expect(asked[0]).not.toContain(MULTICALL3.toLowerCase())
})

test('what moved is counted by an old price where there is no new one, and named where none was', async () => {
  const late = new Map([...PRICES].filter(([key]) => key !== usdc.toLowerCase()))
  const { receipts } = valuer(late, PRICES)
  expect(await receipts.shownBy(MINED)).toEqual({ shownMicros: 400n * USD, unvalued: null })
  const unknown = valuer(late).receipts
  expect(await unknown.shownBy(MINED)).toEqual({ shownMicros: 0n, unvalued: 'stale' })
})
