import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import type { SimulatedTransfer, Simulation } from '../../src/chains/simulate/simulation.js'
import { CONTRACT_FUNCTIONS } from '../../src/contracts/functions/all-functions.js'
import { type AllowanceEntry, allowanceKey } from '../../src/domain/allowance.js'
import { spendOf } from '../../src/domain/exposure.js'
import type { Address, Hex, TxId } from '../../src/domain/ids.js'
import { valueUsdMicros } from '../../src/domain/money.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { Price } from '../../src/pricing/price-source.js'
import { revokeCalls } from '../../src/valuation/allowances.js'
import { namedIn } from '../../src/valuation/calldata.js'
import { findClaims } from '../../src/valuation/claims.js'
import type { Holdings } from '../../src/valuation/holdings.js'
import { type OutflowInput, openedByOthers, outflowOf } from '../../src/valuation/outflow.js'
import { PriceBook } from '../../src/valuation/price-book.js'
import type { CallQuote } from '../../src/valuation/quoter.js'
import { quoteStillGood } from '../../src/valuation/staleness.js'
import { readStatically } from '../../src/valuation/static-reading.js'

const wallet = getAddress('0x00000000000000000000000000000000000a6e47')
const usdc = getAddress('0x00000000000000000000000000000000000000c1')
const other = getAddress('0x00000000000000000000000000000000000000c2')
const someone = getAddress('0x00000000000000000000000000000000000abcde')

const word = (value: bigint | Address) => BigInt(value).toString(16).padStart(64, '0')
const bytes = fc.uint8Array({ maxLength: 400 }).map((it) => Buffer.from(it).toString('hex'))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const price = (dollars: bigint): Price => ({
  value: dollars * 10n ** 8n,
  decimals: 8,
  updatedAtMs: 0,
  source: 'test',
})

describe('static reading', () => {
  const isUsdc = (token: string) => token === usdc.toLowerCase()

  test('never throws and never reads an outflow into other functions', () => {
    fc.assert(
      fc.property(bytes, (digits) => {
        const reading = readStatically(
          { from: wallet, to: someone, data: `0x${digits}` },
          () => false,
        )
        if (!digits.startsWith('a9059cbb')) expect(reading.complete).toBe(false)
      }),
    )
  })

  test('reads a transfer whatever follows it, and short calldata as the EVM does', () => {
    fc.assert(
      fc.property(uint256, bytes, fc.nat(32), (amount, tail, cut) => {
        const full = `a9059cbb${word(someone)}${word(amount)}`
        const whole = readStatically(
          { from: wallet, to: usdc, data: `0x${full}${tail}` },
          () => true,
        )
        expect(whole.outflows).toEqual([{ token: usdc, amount }])
        const short = full.slice(0, full.length - 2 * cut)
        const padded = (amount >> BigInt(8 * cut)) << BigInt(8 * cut)
        const read = readStatically({ from: wallet, to: usdc, data: `0x${short}` }, () => true)
        expect(read.outflows).toEqual([{ token: usdc, amount: padded }])
      }),
    )
  })

  test('finds what a token is told to run on itself, wherever its list says that it starts', () => {
    const approve = `095ea7b3${word(someone)}${word(700n)}`
    const transfer = `a9059cbb${word(someone)}${word(300n)}`
    fc.assert(
      fc.property(fc.nat(70), fc.nat(70), (before, between) => {
        const gap = (bytes: number) => '00'.repeat(bytes)
        const data: Hex = `0xac9650d8${gap(before)}${approve}${gap(between)}${transfer}`
        const { outflows, approvals } = readStatically({ from: wallet, to: usdc, data }, isUsdc)
        expect(outflows).toEqual([{ token: usdc, amount: 300n }])
        expect(approvals).toMatchObject([{ spender: someone, amount: 700n }])
      }),
    )
  })

  test('refuses a list of more calls than can be counted', () => {
    const data: Hex = `0xac9650d8${`a9059cbb${word(someone)}${word(1n)}`.repeat(1_025)}`
    expect(() => readStatically({ from: wallet, to: usdc, data }, isUsdc)).toThrow(FaultError)
    expect(() => readStatically({ from: wallet, to: other, data }, isUsdc)).not.toThrow()
    const claims: Hex = `0x12345678${`23b872dd${word(wallet)}`.repeat(1_025)}`
    expect(() => readStatically({ from: wallet, to: other, data: claims }, isUsdc)).toThrow(
      FaultError,
    )
  })

  test('a claim in the wallet’s name is found at any offset', () => {
    fc.assert(
      fc.property(bytes, uint256, bytes, (before, amount, after) => {
        const permit = `d505accf${word(wallet)}${word(someone)}${word(amount)}`
        const claims = findClaims(`00${before}${permit}${after}`, wallet)
        expect(claims).toContainEqual({ token: null, amount })
      }),
    )
  })

  test('a claim in somebody else’s name is none', () => {
    const permit = `00d505accf${word(someone)}${word(wallet)}${word(9n)}`
    expect(findClaims(permit, wallet)).toEqual([])
  })

  test('Permit2 names its token', () => {
    const details = [usdc, 7n, 0n, 0n, someone, 0n].map((it) => word(it as bigint)).join('')
    const claims = findClaims(`002b67b570${word(wallet)}${details}`, wallet)
    expect(claims).toEqual([{ token: usdc, amount: 7n }])
    const signed = `0030f28b7a${word(usdc)}${word(8n)}${word(0n)}${word(0n)}${word(someone)}${word(8n)}${word(wallet)}`
    expect(findClaims(signed, wallet)).toEqual([{ token: usdc, amount: 8n }])
  })
})

describe('claims in calldata', () => {
  const OWNED = CONTRACT_FUNCTIONS.flatMap(({ signature, selector, effect }) =>
    (effect.kind === 'outflow' || effect.kind === 'approval') && effect.owner !== undefined
      ? [[signature, selector, effect, effect.owner] as const]
      : [],
  )

  test.each(OWNED)('are found of %s, wherever it stands', (_, selector, effect, owner) => {
    const words = Array.from({ length: 12 }, (__, at) => word(BigInt(at + 1_000)))
    words[owner] = word(wallet)
    const { token, amount } = effect
    if (token !== undefined) words[token] = word(usdc)
    if (typeof amount === 'number') words[amount] = word(77n)
    else if (amount !== 'all') words[amount.flag] = word(1n)
    const call = `${selector}${words.join('')}`
    const expected = {
      token: token === undefined ? null : usdc,
      amount: typeof amount === 'number' ? 77n : 2n ** 256n - 1n,
    }
    for (const before of ['00', 'ac9650d8', `1234567800${word(32n)}`]) {
      expect(findClaims(`${before}${call}`, wallet)).toContainEqual(expected)
    }
    expect(findClaims(`00${call}`, someone)).toEqual([])
    // At its start it is the call itself.
    expect(findClaims(call, wallet)).toEqual([])
    const data: Hex = `0x1234567800${call}`
    const { claims } = readStatically({ from: wallet, to: other, data }, () => false)
    expect(claims).toContainEqual(expected)
  })
})

describe('outflow', () => {
  const tokens = new Map([[usdc.toLowerCase(), { address: usdc, decimals: 6 }]])
  const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })

  function simulation(transfers: readonly SimulatedTransfer[]): Simulation {
    const outcome = { success: true, failure: null, revertReason: null, gasUsed: 1n } as const
    return { ...outcome, transfers, approvals: [], touched: [], truncated: false }
  }

  function erc20(token: Address, from: Address, to: Address, moved: bigint): SimulatedTransfer {
    return { token, from, to, amount: moved, kind: 'erc20' }
  }

  function holding(balances: Holdings['balances'], allowed = 0n): Holdings {
    const standing = [{ spender: someone, kind: 'erc20', amount: allowed } as const]
    return {
      balances,
      supplies: new Map(),
      standing: new Map(allowed === 0n ? [] : [[usdc.toLowerCase(), standing]]),
      assetsPerShare: new Map(),
    }
  }

  const NEITHER = { movesItems: false, opensToOthers: false, complete: false } as const
  const most = (of: OutflowInput) => spendOf(outflowOf(of).exposure, null, true).valueMicros

  function input(transfers: readonly SimulatedTransfer[], said: Partial<OutflowInput> = {}) {
    const prices = new Map([
      ['native', price(3_000n)],
      [usdc.toLowerCase(), price(1n)],
    ])
    const holdings = holding(new Map())
    return {
      call: { chainId: 1, from: wallet, to: someone, value: 0n, data: '0x' as Hex },
      reading: { outflows: [], approvals: [], claims: [], ...NEITHER },
      simulation: simulation(transfers),
      holdings,
      isOurs: () => false,
      prices: new PriceBook(tokens, prices),
      ...said,
    } satisfies OutflowInput
  }

  test('is what goes out, and nothing that comes in makes it less', () => {
    fc.assert(
      fc.property(fc.array(amount), fc.array(amount), (out, back) => {
        const outward = out.map((moved) => erc20(usdc, wallet, someone, moved))
        const inward = back.map((moved) => erc20(usdc, someone, wallet, moved))
        const expected = valueUsdMicros(
          out.reduce((sum, it) => sum + it, 0n),
          6,
          1n,
          0,
        )
        expect(most(input([...outward, ...inward]))).toBe(expected)
      }),
    )
  })

  test('is never below words, run, or what is already allowed', () => {
    fc.assert(
      fc.property(amount, amount, amount, amount, (said, run, balance, allowed) => {
        const base = input([erc20(usdc, wallet, someone, run)])
        const valueMicros = most({
          ...base,
          reading: { ...base.reading, outflows: [{ token: usdc, amount: said }] },
          holdings: holding(new Map([[usdc.toLowerCase(), balance]]), allowed),
        })
        const worth = (part: bigint) => valueUsdMicros(part, 6, 1n, 0)
        expect(valueMicros >= worth(run)).toBe(true)
        expect(valueMicros >= worth(said + allowed)).toBe(true)
      }),
    )
  })

  test('counts what the calldata claims in the wallet’s name, whatever a run shows of it', () => {
    const holdings = holding(
      new Map([
        [usdc.toLowerCase(), 40n * 10n ** 6n],
        [other.toLowerCase(), 7n * 10n ** 6n],
      ]),
    )
    fc.assert(
      fc.property(amount, amount, fc.boolean(), (claimed, run, isNamed) => {
        const base = input(run === 0n ? [] : [erc20(usdc, wallet, someone, run)], { holdings })
        const claim = { token: isNamed ? usdc : null, amount: claimed }
        const seen = { ...base, reading: { ...base.reading, claims: [claim] } }
        const worth = (part: bigint) => valueUsdMicros(part, 6, 1n, 0)
        // Of a token that is not named, no more than the wallet has of the one that is worth most.
        const balance = 40n * 10n ** 6n
        const bounded = isNamed || claimed < balance ? claimed : balance
        expect(most(seen)).toBe(worth(bounded > run ? bounded : run))
        expect(outflowOf(seen).exposure.claimedMicros).toBe(worth(bounded))
        // What calldata says others get besides is no substitute for what it moves by its own words.
        const both = { ...base.reading, outflows: [{ token: usdc, amount: run }], claims: [claim] }
        expect(most({ ...seen, reading: both })).toBe(worth(bounded) + worth(run))
      }),
    )
  })

  test('has no price where the calldata claims what has none', () => {
    const base = input([])
    const claims = [{ token: other, amount: 1n }]
    expect(outflowOf({ ...base, reading: { ...base.reading, claims } }).unpriced).toBe(true)
    const none = [{ token: usdc, amount: 1n }]
    expect(outflowOf({ ...base, reading: { ...base.reading, claims: none } }).unpriced).toBe(false)
  })

  test('is what others approve on the call’s word, less what they were approved for', () => {
    const approved = (spender: Address, amount: bigint, moved = 0n) => {
      const moves = [erc20(usdc, other, someone, moved)]
      const base = input(moves)
      const approval = { token: usdc, owner: other, spender, amount, kind: 'erc20' } as const
      const simulated = { ...simulation(moves), approvals: [approval] }
      const data: Hex = `0x12345678${word(named)}`
      return most({ ...base, simulation: simulated, call: { ...base.call, data } })
    }
    const named = getAddress('0x00000000000000000000000000000000000000c9')
    expect(approved(named, 400_000_000n)).toBe(400_000_000n)
    expect(approved(someone, 400_000_000n)).toBe(400_000_000n)
    expect(approved(getAddress('0x00000000000000000000000000000000000000c8'), 400n)).toBe(0n)
    // What it moved counts as gained by another.
    expect(approved(named, 400_000_000n, 300_000_000n)).toBe(400_000_000n)
  })

  test('is an approval in full for a key without caps, where nobody says how much there is', () => {
    const approval = { token: usdc, owner: wallet, spender: someone, kind: 'erc20' } as const
    const approvals = [{ ...approval, amount: 400_000_000n }]
    const base = input([])
    const uncapped = (holdings: Holdings) =>
      spendOf(
        outflowOf({ ...base, reading: { ...base.reading, approvals }, holdings }).exposure,
        null,
        false,
      ).valueMicros
    const held = holding(new Map([[usdc.toLowerCase(), 1_000_000n]]))
    expect(uncapped(held)).toBe(400_000_000n)
    const supplies = new Map([[usdc.toLowerCase(), 300_000_000n]])
    expect(uncapped({ ...held, supplies })).toBe(300_000_000n)
  })

  test('is what others approve to several, whatever left them once', () => {
    const spenders = ['c7', 'c8', 'c9'].map((end) => getAddress(`0x${'00'.repeat(19)}${end}`))
    const data: Hex = `0x12345678${spenders.map(word).join('')}`
    const opened = (amounts: readonly (readonly [number, bigint])[], left: bigint) =>
      openedByOthers(
        { from: wallet, to: someone, data },
        {
          transfers: [erc20(usdc, other, someone, left)],
          approvals: amounts.map(([i, amount]) => {
            const spender = spenders[i] ?? someone
            return { token: usdc, owner: other, spender, amount, kind: 'erc20' }
          }),
        },
      ).amounts.get(usdc.toLowerCase()) ?? 0n
    const thrice = [0, 1, 2].map((i) => [i, 400n] as const)
    expect(opened(thrice, 0n)).toBe(1_200n)
    expect(opened(thrice, 400n)).toBe(800n)
    expect(opened(thrice, 1_200n)).toBe(0n)
    // An old token logs what is left of an approval with each pull.
    expect(opened([...thrice, [0, 200n]], 1_200n)).toBe(0n)
    expect(
      opened(
        [
          [0, 400n],
          [0, 200n],
        ],
        300n,
      ),
    ).toBe(100n)
  })

  test('without a feed it is unpriced; with a late feed it has no value at all', () => {
    const unknown = input([erc20(other, wallet, someone, 1n)])
    expect(outflowOf(unknown).unpriced).toBe(true)
    expect(unknown.prices.gap).toBeNull()
    const late = () =>
      new PriceBook(
        tokens,
        new Map<string, Price>([
          ['native', price(1n)],
          [usdc.toLowerCase(), { unavailable: 'stale' }],
        ]),
      )
    const out = input([erc20(usdc, wallet, someone, 1n)], { prices: late() })
    outflowOf(out)
    expect(out.prices.gap).toBe('stale')
    const back = input([erc20(usdc, someone, wallet, 1n)], { prices: late() })
    expect(outflowOf(back).movements).toMatchObject([{ valueMicros: null }])
    expect(back.prices.gap).toBeNull()
  })
})

describe('a quote', () => {
  function quoteAt(block: number, simulated: boolean, value: bigint): CallQuote {
    return {
      ok: true,
      gasLimit: 1n,
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      valuation: { valueMicros: 1n, gasMicros: 1n, nativePrice: value, nativePriceDecimals: 8 },
      unpriced: false,
      problem: null,
      accountHasCode: false,
      basis: {
        simulated,
        quotedAtBlock: block,
        prices: [{ token: 'native', value, decimals: 8 }],
        movements: [],
        approvals: [],
        recipients: [],
        gasUsed: null,
        maxFeeWei: 1n,
      },
    }
  }
  const at = (value: bigint) => () => ({ value, decimals: 8, updatedAtMs: 0, source: 'test' })

  test('holds for its block and the next when it was simulated, else while prices do', () => {
    const now = at(1_000n)
    expect(quoteStillGood(quoteAt(10, true, 1_000n), 10, now)).toBe(true)
    expect(quoteStillGood(quoteAt(10, true, 1_000n), 11, now)).toBe(true)
    expect(quoteStillGood(quoteAt(10, true, 1_000n), 12, now)).toBe(false)
    expect(quoteStillGood(quoteAt(10, true, 1_000n), 9, now)).toBe(false)
    expect(quoteStillGood(quoteAt(10, true, 1_000n), null, now)).toBe(false)
    expect(quoteStillGood(quoteAt(10, false, 1_000n), null, now)).toBe(true)
    expect(quoteStillGood(quoteAt(10, false, 1_000n), 500, now)).toBe(true)
  })

  test('ends when a price moves by more than one per cent, either way, or is gone', () => {
    const good = (after: bigint) => quoteStillGood(quoteAt(1, false, 1_000n), 1, at(after))
    expect([990n, 1_000n, 1_010n].map(good)).toEqual([true, true, true])
    expect([989n, 1_011n].map(good)).toEqual([false, false])
    const gone = () => ({ unavailable: 'stale' }) as const
    expect(quoteStillGood(quoteAt(1, false, 1_000n), 1, gone)).toBe(false)
    expect(quoteStillGood({ ok: false, fault: fault('CHAIN_UNAVAILABLE') }, 1, gone)).toBe(false)
  })
})

describe('the addresses that calldata names', () => {
  test('are found at any byte, and no others', () => {
    const address = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((it) => Buffer.from(it).toString('hex'))
    const isAt = (digits: string, sought: string) =>
      Array.from({ length: digits.length / 2 }, (_, i) => digits.slice(2 * i, 2 * i + 40)).includes(
        sought,
      )
    fc.assert(
      fc.property(address, address, bytes, bytes, (one, another, before, after) => {
        const digits = `${before}${one}${after}`
        const sought = new Set([one, another].map((it) => getAddress(`0x${it}`)))
        const found = namedIn(`0x${digits}`, sought)
        expect(found).toEqual(
          new Set([...sought].filter((it) => isAt(digits, it.slice(2).toLowerCase()))),
        )
        expect(found.has(getAddress(`0x${one}`))).toBe(true)
      }),
    )
  })

  test('are looked for together, so that many in vain take one pass', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => {
      const end = (0x100000 + i).toString(16)
      return `0x${end.padStart(40, '0')}` as Address
    })
    expect(namedIn(`0x${'00'.repeat(131_072)}`, new Set(many)).size).toBe(0)
  })
})

test('every approval is ended exactly once', () => {
  const entry = fc.record({
    chainId: fc.constantFrom(1, 10),
    token: fc.constantFrom(usdc, other),
    spender: fc.constantFrom(someone, wallet),
    kind: fc.constantFrom('erc20', 'permit2', 'collection', 'erc721'),
    tokenId: fc.constantFrom(null, 1n),
    txId: fc.constantFrom('tx_a' as TxId, 'tx_b' as TxId),
  }) satisfies fc.Arbitrary<AllowanceEntry>
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 200 }), (entries) => {
      const ended = revokeCalls(entries).flatMap(({ ends }) => ends.map(allowanceKey))
      const endable = entries.filter((it) => it.kind !== 'erc721' || it.tokenId !== null)
      expect(ended.toSorted()).toEqual([...new Set(endable.map(allowanceKey))].toSorted())
    }),
  )
})
