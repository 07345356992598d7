import { encodeFunctionData, getAddress, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { SimulatedTransfer } from '../../src/chains/simulate/simulation.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../../src/domain/ids.js'
import type { Price } from '../../src/pricing/price-source.js'
import { opensToOthers } from '../../src/valuation/operator-calls.js'
import { PriceBook } from '../../src/valuation/price-book.js'
import { gainedByOthers } from '../../src/valuation/third-parties.js'

const wallet = getAddress('0x00000000000000000000000000000000000a6e47')
const usdc = getAddress('0x00000000000000000000000000000000000000c1')
const weth = getAddress('0x00000000000000000000000000000000000000c2')
const shares = getAddress('0x00000000000000000000000000000000000000c3')
const unknown = getAddress('0x00000000000000000000000000000000000000c4')
const market = getAddress('0x00000000000000000000000000000000000000d1')
const router = getAddress('0x00000000000000000000000000000000000000d2')
const pool = getAddress('0x00000000000000000000000000000000000000d3')
const nextPool = getAddress('0x00000000000000000000000000000000000000d4')
const stranger = getAddress('0x00000000000000000000000000000000000abcde')

const known = (dollars: bigint): Price => ({
  value: dollars,
  decimals: 0,
  updatedAtMs: 0,
  source: 'test',
})

/** A dollar, 3,000 dollars, and half a dollar of `usdc` for a share; amounts are micro-dollars. */
function book(late: readonly Address[] = []): PriceBook {
  const lower = (address: Address) => address.toLowerCase()
  const tokens = new Map([
    [lower(usdc), { address: usdc, decimals: 6 }],
    [lower(weth), { address: weth, decimals: 18 }],
    [
      lower(shares),
      {
        address: shares,
        decimals: 6,
        share: { asset: lower(usdc), assetsPerShare: 500_000n },
      },
    ],
  ])
  const prices = new Map<string, Price>([
    ['native', known(3_000n)],
    [lower(usdc), known(1n)],
    [lower(weth), known(3_000n)],
  ])
  for (const token of late) prices.set(lower(token), { unavailable: 'stale' })
  return new PriceBook(tokens, prices)
}

type Move = readonly [token: Address | null, from: Address, to: Address, dollars: number]

function moves(...given: readonly Move[]): readonly SimulatedTransfer[] {
  return given.map(([token, from, to, dollars]) => {
    const micros = BigInt(dollars * 1_000_000)
    const isEther = token === null || token === weth
    const amount = isEther
      ? (micros * 10n ** 12n) / 3_000n
      : token === shares
        ? micros * 2n
        : micros
    return { token, from, to, amount, kind: token === null ? 'native' : 'erc20' }
  })
}

const gained = (...given: readonly Move[]) =>
  Number(gainedByOthers(wallet, moves(...given), book())) / 1_000_000

describe('what third contracts hand to others counts', () => {
  test('in full, in native currency and in shares too, however many hands it passes through', () => {
    expect(gained([usdc, market, stranger, 800])).toBe(800)
    expect(gained([null, market, stranger, 30])).toBe(30)
    expect(gained([shares, market, stranger, 80])).toBe(80)
    expect(gained([usdc, market, router, 800], [usdc, router, stranger, 800])).toBe(800)
    expect(gained([weth, pool, stranger, 300], [usdc, market, pool, 300])).toBe(300)
  })

  test('also besides a payment of the wallet’s own, and whatever the wallet gets in return', () => {
    expect(gained([usdc, wallet, pool, 100], [usdc, market, stranger, 800])).toBe(800)
    expect(gained([usdc, market, stranger, 800], [weth, stranger, wallet, 900])).toBe(800)
  })

  test('not when it comes to the wallet', () => {
    expect(gained([usdc, market, wallet, 800])).toBe(0)
    expect(gained([usdc, market, router, 800], [usdc, router, wallet, 800])).toBe(800)
  })
})

describe('what third contracts hand round in a circle counts', () => {
  test('a deposit that leaves a market and returns to it, perhaps in another’s name', () => {
    expect(gained([usdc, market, router, 400], [usdc, router, market, 400])).toBe(400)
    const round: Move[] = [
      [usdc, market, router, 400],
      [usdc, router, stranger, 400],
      [usdc, stranger, market, 300],
    ]
    expect(gained(...round)).toBe(400)
    expect(gained([usdc, stranger, market, 400], [usdc, market, stranger, 400])).toBe(400)
  })

  test('besides all that the wallet pays', () => {
    const round: Move[] = [
      [usdc, market, router, 400],
      [usdc, router, market, 400],
    ]
    expect(gained([usdc, wallet, pool, 500], ...round)).toBe(400)
  })

  test('not what a party got in the call, nor what the wallet itself gives back', () => {
    const passed: Move[] = [
      [usdc, wallet, market, 100],
      [usdc, market, pool, 100],
      [usdc, pool, market, 3],
    ]
    expect(gained(...passed)).toBe(0)
    expect(gained([usdc, market, wallet, 400], [usdc, wallet, market, 400])).toBe(0)
    expect(gained([weth, ZERO_ADDRESS, router, 9], [weth, router, ZERO_ADDRESS, 9])).toBe(0)
  })
})

describe('what the wallet pays itself is not counted a second time', () => {
  test('in a swap, over routers and several pools, wrapped and unwrapped', () => {
    expect(gained([usdc, wallet, pool, 100], [weth, pool, wallet, 99])).toBe(0)
    expect(
      gained(
        [usdc, wallet, router, 100],
        [usdc, router, pool, 100],
        [weth, pool, nextPool, 99],
        [shares, nextPool, wallet, 98],
      ),
    ).toBe(0)
    expect(
      gained(
        [null, wallet, router, 90],
        [null, router, weth, 90],
        [weth, ZERO_ADDRESS, router, 90],
        [weth, router, pool, 90],
        [usdc, pool, wallet, 89],
      ),
    ).toBe(0)
    expect(
      gained(
        [usdc, wallet, pool, 90],
        [weth, pool, router, 89],
        [weth, router, ZERO_ADDRESS, 89],
        [null, weth, router, 89],
        [null, router, wallet, 89],
      ),
    ).toBe(0)
  })

  test('in a vault, whoever gets the money', () => {
    expect(gained([usdc, wallet, shares, 50], [shares, ZERO_ADDRESS, wallet, 50])).toBe(0)
    expect(gained([shares, wallet, ZERO_ADDRESS, 50], [usdc, shares, stranger, 50])).toBe(0)
  })

  test('when it is parted into many sums', () => {
    const parts: Move[] = Array.from({ length: 7 }, (_, i) => [
      weth,
      router,
      getAddress(`0x${(0xe0 + i).toString(16).padStart(40, '0')}`),
      1,
    ])
    expect(gained([weth, wallet, router, 7], ...parts)).toBe(0)
  })
})

test('a late price of what others move is a gap, of what only comes in none', () => {
  const late = book([weth])
  gainedByOthers(wallet, moves([weth, market, stranger, 1]), late)
  expect(late.gap).toBe('stale')
  const back = book([weth])
  gainedByOthers(wallet, moves([usdc, wallet, pool, 1], [weth, pool, wallet, 1]), back)
  expect(back.gap).toBeNull()
  expect(gained([unknown, market, stranger, 5])).toBe(0)
})

describe('calls that let others act for the wallet', () => {
  const abi = parseAbi([
    'function setAuthorization(address authorized, bool isAuthorized)',
    'function setPreSignature(bytes orderUid, bool signed)',
    'function setOperator(address operator, bool approved)',
    'function approve(address spender, uint256 id, uint256 amount)',
    'function allow(address manager, bool isAllowed)',
    'function approveDelegation(address delegatee, uint256 amount)',
    'function preSign(bytes32 orderHash)',
    'function enableModule(address module)',
    'function transferOwnership(address to)',
    'function upgradeTo(address code)',
    'function transfer(address receiver, uint256 id, uint256 amount)',
    'function transferAsset(address to, address asset, uint256 amount)',
    'function multicall(bytes[] calls)',
  ])
  const encode = (functionName: string, args: readonly unknown[]): Hex =>
    encodeFunctionData({ abi, functionName, args } as Parameters<
      typeof encodeFunctionData<typeof abi>
    >[0])
  const hash: Hex = `0x${'7'.repeat(64)}`

  test.for([
    ['setAuthorization', [stranger, true]],
    ['setPreSignature', ['0x1234', true]],
    ['setOperator', [stranger, true]],
    ['approve', [stranger, 7n, 1n]],
    ['allow', [stranger, true]],
    ['approveDelegation', [stranger, 1n]],
    ['preSign', [hash]],
    ['enableModule', [stranger]],
    ['transferOwnership', [stranger]],
    ['upgradeTo', [stranger]],
    ['transfer', [stranger, 7n, 1n]],
    ['transferAsset', [stranger, usdc, 1n]],
  ] as const)('%s has no price, alone and within batches', ([name, args]) => {
    const call = encode(name, args)
    expect(opensToOthers(call)).toBe(true)
    const batch = encode('multicall', [['0x12', call]])
    expect(opensToOthers(batch)).toBe(true)
    expect(opensToOthers(encode('multicall', [['0xabcdef', batch]]))).toBe(true)
  })

  test.for([
    ['setAuthorization', [stranger, false]],
    ['setPreSignature', ['0x1234', false]],
    ['setOperator', [stranger, false]],
    ['approve', [stranger, 7n, 0n]],
    ['allow', [stranger, false]],
    ['approveDelegation', [stranger, 0n]],
  ] as const)('%s may be taken back', ([name, args]) => {
    expect(opensToOthers(encode(name, args))).toBe(false)
    expect(opensToOthers(encode('multicall', [[encode(name, args)]]))).toBe(false)
  })
})
