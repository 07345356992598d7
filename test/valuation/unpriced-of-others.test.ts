import { concatHex, getAddress, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import type { SimulatedApproval, SimulatedTransfer } from '../../src/chains/simulate/simulation.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../../src/domain/ids.js'
import { openedByOthers, type ResidualAllowanceOf } from '../../src/valuation/outflow.js'
import { PriceBook } from '../../src/valuation/price-book.js'
import { givesAwayUnpriced } from '../../src/valuation/unpriced-of-others.js'

const at = (end: string): Address => getAddress(`0x${end.padStart(40, '0')}`)
const [wallet, usdc, shares, items] = [at('a6e47'), at('c1'), at('c4'), at('c5')]
const [account, pool, nextPool, vault] = [at('d1'), at('d2'), at('d3'), at('d4')]
const [stranger, collector] = [at('abcde'), at('fee')]

const book = new PriceBook(
  new Map([[usdc.toLowerCase(), { address: usdc, decimals: 6 }]]),
  new Map(),
)
const dataNaming = (...parties: readonly Address[]): Hex =>
  concatHex(['0x12345678', ...parties.map((it) => pad(it))])

type Move = readonly [token: Address, from: Address, to: Address, amount?: bigint]

function givesAway(to: Address, named: readonly Address[], ...moves: readonly Move[]): boolean {
  const transfers = moves.map(
    ([token, from, payee, amount = 100n]): SimulatedTransfer =>
      token === items
        ? { token, from, to: payee, amount: 1n, kind: 'erc721', tokenId: amount }
        : { token, from, to: payee, amount, kind: 'erc20' },
  )
  return givesAwayUnpriced({ from: wallet, to, data: dataNaming(...named) }, transfers, book)
}

describe('what has no price and leaves third contracts is given away', () => {
  test('when the contract that is called gives of its own, whoever gets it', () => {
    expect(givesAway(account, [], [shares, account, stranger])).toBe(true)
    expect(givesAway(account, [], [items, account, stranger])).toBe(true)
    // Sold for next to nothing in a pool of the attacker's.
    expect(givesAway(account, [], [shares, account, pool], [usdc, pool, account, 1n])).toBe(true)
    expect(givesAway(account, [], [shares, account, wallet, 1n], [shares, account, pool])).toBe(
      true,
    )
  })

  test('when it comes to somebody whom the call names and who gives nothing', () => {
    expect(givesAway(vault, [stranger], [shares, account, stranger])).toBe(true)
    expect(givesAway(vault, [stranger], [items, account, stranger])).toBe(true)
    const swept: Move[] = [
      [shares, pool, vault],
      [shares, vault, stranger],
    ]
    expect(givesAway(vault, [stranger], ...swept)).toBe(true)
  })
})

describe('what has no price and leaves third contracts is not given away', () => {
  test('when it comes to the wallet, or is burnt, or was minted in the call', () => {
    expect(givesAway(account, [wallet], [shares, account, wallet])).toBe(false)
    expect(givesAway(account, [wallet], [items, pool, wallet])).toBe(false)
    const redeemed: Move[] = [
      [shares, account, ZERO_ADDRESS],
      [usdc, shares, account],
    ]
    expect(givesAway(account, [account], ...redeemed)).toBe(false)
    const staked: Move[] = [
      [shares, ZERO_ADDRESS, vault],
      [shares, vault, pool],
    ]
    expect(givesAway(vault, [pool], ...staked)).toBe(false)
  })

  test('on the way of a swap, though the call names the pools, and by a fee of what is bought', () => {
    const swap: Move[] = [
      [usdc, wallet, pool],
      [shares, pool, nextPool],
      [usdc, nextPool, wallet],
    ]
    expect(givesAway(vault, [pool, nextPool], ...swap)).toBe(false)
    const wrapped: Move[] = [
      [shares, pool, items],
      [items, ZERO_ADDRESS, wallet],
    ]
    expect(givesAway(vault, [pool, items], ...wrapped)).toBe(false)
    const bought: Move[] = [
      [usdc, wallet, pool],
      [shares, pool, vault, 1_000n],
      [shares, vault, collector, 30n],
      [shares, vault, wallet, 970n],
    ]
    expect(givesAway(vault, [collector], ...bought)).toBe(false)
  })

  test('when it has a feed, late or not: that is counted, or refused, elsewhere', () => {
    expect(givesAway(account, [stranger], [usdc, account, stranger])).toBe(false)
  })
})

describe('what a third contract approves', () => {
  const approval = { token: usdc, owner: account, spender: stranger, amount: 400n, kind: 'erc20' }
  const opened = (to: Address, named: readonly Address[], ...moves: readonly Move[]) =>
    openedByOthers(
      { from: wallet, to, data: dataNaming(...named) },
      {
        approvals: [approval as SimulatedApproval],
        transfers: moves.map(([token, from, payee, amount = 100n]) => ({
          ...{ token, from, to: payee, amount, kind: 'erc20' as const },
        })),
      },
    )

  test('counts though nobody names the spender, when the wallet calls it and none of it moves', () => {
    expect(opened(account, []).amounts.get(usdc.toLowerCase())).toBe(400n)
    expect(opened(vault, []).amounts.size).toBe(0)
    // A router that lets a pool pull, of what came to it.
    expect(opened(account, [], [usdc, wallet, account]).amounts.size).toBe(0)
    expect(opened(account, [], [usdc, account, stranger]).amounts.size).toBe(0)
  })

  test('counts as far as it stands after the call, whatever else left the contract in it', () => {
    const paid = (residualAllowanceOf?: ResidualAllowanceOf) =>
      openedByOthers(
        { from: wallet, to: account, data: dataNaming(stranger) },
        {
          approvals: [approval as SimulatedApproval],
          transfers: [{ token: usdc, from: account, to: wallet, amount: 400n, kind: 'erc20' }],
        },
        residualAllowanceOf,
      ).amounts.get(usdc.toLowerCase())
    expect(paid(() => 400n)).toBe(400n)
    expect(paid(() => 150n)).toBe(150n)
    expect(paid(() => 2n ** 256n - 1n)).toBe(400n)
    expect(paid(() => 0n)).toBeUndefined()
    // Where nothing but the logs tells.
    expect(paid()).toBeUndefined()
    expect(paid(() => null)).toBeUndefined()
  })

  test('was its own before the call when nothing of it came in the call', () => {
    expect(opened(vault, [stranger]).held).toEqual(new Set([usdc.toLowerCase()]))
    expect(opened(vault, [stranger], [usdc, pool, account]).held.size).toBe(0)
  })
})
