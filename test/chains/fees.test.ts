import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bump,
  type Fees,
  feesFor,
  lacksFees,
  offerCeiling,
  parseFeeHistory,
  withSuggestions,
} from '../../src/chains/fees.js'
import type { ChainHead } from '../../src/chains/heads.js'

const GWEI = 1_000_000_000n

function head(chainId: number, baseFeePerGas: bigint): ChainHead {
  const hash = `0x${'00'.repeat(32)}` as const
  return { chainId, number: 1, hash, parentHash: hash, timestampMs: 0, baseFeePerGas }
}

/** Two amounts in either order; the tip is the smaller. */
function feesOf(a: bigint, b: bigint): Fees {
  const [low = a, high = b] = [a, b].sort((x, y) => Number(x - y))
  return { maxFeePerGas: high, maxPriorityFeePerGas: low }
}

describe('fees', () => {
  const history = {
    baseFeesPerGas: [10n * GWEI, 11n * GWEI],
    tipsPerGas: [GWEI, 3n * GWEI, 2n * GWEI],
    lowTipPerGas: GWEI,
    isCrowded: false,
  }

  test('the tip is the median of recent ones, the fee twice the next base fee above it', () => {
    expect(feesFor(head(1, 10n * GWEI), history, 1_000n * GWEI)).toEqual({
      maxFeePerGas: 24n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    })
  })

  test('quiet chains offer their floor: 25 gwei on Polygon, 0.05 on BNB, nothing on Arbitrum', () => {
    const quiet = { ...history, baseFeesPerGas: [0n, 0n], tipsPerGas: [] }
    const tips = [137, 56, 42161].map(
      (id) => feesFor(head(id, 0n), quiet, GWEI * 1_000n).maxPriorityFeePerGas,
    )
    expect(tips).toEqual([25n * GWEI, GWEI / 20n, 0n])
  })

  test('empty blocks do not pull the median down', () => {
    const parsed = parseFeeHistory({
      baseFeePerGas: ['0x1', '0x2', '0x3'],
      gasUsedRatio: [0, 0.5],
      reward: [['0x0'], ['0x7']],
    })
    expect(parsed).toMatchObject({ baseFeesPerGas: [1n, 2n, 3n], tipsPerGas: [7n] })
  })

  const wei = fc.bigInt(0n, 10n ** 15n)

  test('no field ever passes the ceiling, and the tip never passes the fee', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 10, 56, 137, 8453, 42161),
        wei,
        fc.array(wei),
        wei,
        (chainId, base, tips, ceiling) => {
          const fees = feesFor(
            head(chainId, base),
            { ...history, baseFeesPerGas: [base], tipsPerGas: tips, lowTipPerGas: null },
            ceiling,
          )
          expect(fees.maxFeePerGas <= ceiling).toBe(true)
          expect(fees.maxPriorityFeePerGas <= fees.maxFeePerGas).toBe(true)
        },
      ),
    )
  })

  test('a bump is a valid replacement for pools that ask for 10 %, or null', () => {
    fc.assert(
      fc.property(wei, wei, wei, wei, wei, (a, b, c, d, ceiling) => {
        const previous = feesOf(a, b)
        const current = feesOf(c, d)
        const next = bump(previous, current, ceiling)
        if (next === null) {
          const needed = (previous.maxFeePerGas * 9n + 7n) / 8n
          expect(needed > ceiling || previous.maxFeePerGas + 1n > ceiling).toBe(true)
          return
        }
        for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(next[field] > previous[field]).toBe(true)
          expect(next[field] * 1_000n >= previous[field] * 1_125n).toBe(true)
          expect(next[field] <= ceiling).toBe(true)
        }
        expect(next.maxPriorityFeePerGas <= next.maxFeePerGas).toBe(true)
      }),
    )
  })

  test('whatever is offered, first or as a bump, a cancellation has room below the ceiling', () => {
    fc.assert(
      fc.property(wei, wei, fc.array(wei), wei, (base, later, tips, drawn) => {
        const ceiling = drawn + 1n
        const seen = { ...history, baseFeesPerGas: [base], tipsPerGas: tips, lowTipPerGas: null }
        const first = feesFor(head(1, base), seen, ceiling)
        const market = feesFor(head(1, later), seen, ceiling)
        const second = bump(first, market, offerCeiling(ceiling))
        for (const offer of [first, second]) {
          if (offer !== null) expect(bump(offer, market, ceiling)).not.toBeNull()
        }
      }),
    )
  })

  test('a bump follows a market that rose further', () => {
    const previous = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n }
    const current = { maxFeePerGas: 50n, maxPriorityFeePerGas: 5n }
    expect(bump(previous, current, 100n)).toEqual(current)
  })
})

describe('the tip', () => {
  const gwei = (n: bigint) => `0x${(n * GWEI).toString(16)}`
  const blocks = <T>(row: (i: number) => T) => Array.from({ length: 20 }, (_, i) => row(i))
  /** One answer of `eth_feeHistory`: 20 blocks of so much base fee, by what each paid. */
  const historyOf = (
    base: bigint,
    paid: (i: number) => readonly [ratio: number, low: bigint, mid: bigint],
  ) =>
    parseFeeHistory({
      baseFeePerGas: [...blocks(() => gwei(base)), gwei(base)],
      gasUsedRatio: blocks((i) => paid(i)[0]),
      reward: blocks((i) =>
        paid(i)
          .slice(1)
          .map((tip) => gwei(tip as bigint)),
      ),
    })
  const tipOf = (chainId: number, base: bigint, history: ReturnType<typeof parseFeeHistory>) =>
    feesFor(head(chainId, base * GWEI), history, 10_000n * GWEI).maxPriorityFeePerGas

  test('of one stranger in an otherwise empty chain is not ours', () => {
    const lone = historyOf(1n, (i) => (i === 7 ? [0.001, 700n, 700n] : [0, 0n, 0n]))
    expect(tipOf(1, 1n, lone)).toBe(GWEI / 100n)
  })

  test('of a stranger in every block is bounded by the base fee', () => {
    const everywhere = historyOf(1n, () => [0.001, 700n, 700n])
    for (const chainId of [1, 10, 56, 8453]) expect(tipOf(chainId, 1n, everywhere)).toBe(3n * GWEI)
  })

  test('of a stranger in every block is bounded by the floor, where there is no base fee', () => {
    const everywhere = historyOf(0n, () => [0.001, 700n, 700n])
    expect(tipOf(56, 0n, everywhere)).toBe(GWEI / 2n)
  })

  test('of most in every block is bounded by what the cheapest paid', () => {
    expect(
      tipOf(
        1,
        100n,
        historyOf(100n, () => [0.5, 1n, 200n]),
      ),
    ).toBe(3n * GWEI)
  })

  test('of a busy market is followed', () => {
    expect(
      tipOf(
        1,
        30n,
        historyOf(30n, () => [0.95, 2n, 5n]),
      ),
    ).toBe(5n * GWEI)
  })

  test('is never below the floor of the chain', () => {
    expect(
      tipOf(
        137,
        1n,
        historyOf(1n, () => [0, 0n, 0n]),
      ),
    ).toBe(25n * GWEI)
  })
})

describe('a history that is missing or odd', () => {
  const base = head(1, 10n * GWEI)
  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'soon'],
    ['empty', {}],
    ['full of nulls', { baseFeePerGas: [null], gasUsedRatio: [null], reward: [null] }],
    ['without rewards', { baseFeePerGas: ['0x1'], gasUsedRatio: [0.5] }],
    ['of rewards that are null', { baseFeePerGas: ['0x1'], gasUsedRatio: [0.5], reward: null }],
    [
      'of rewards that are no amounts',
      { baseFeePerGas: ['0x1'], gasUsedRatio: [0.5], reward: [['-1', {}]] },
    ],
  ])('%s is completed by what the node suggests', (_name, odd) => {
    const history = parseFeeHistory(odd)
    expect(lacksFees(base, history)).toBe(true)
    const both = withSuggestions(base, history, { tip: 2n * GWEI, gasPrice: 13n * GWEI })
    expect(feesFor(base, both, 1_000n * GWEI)).toEqual({
      maxFeePerGas: 22n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    })
    const price = withSuggestions(base, history, { tip: null, gasPrice: 13n * GWEI })
    expect(feesFor(base, price, 1_000n * GWEI).maxPriorityFeePerGas).toBe(3n * GWEI)
    const nothing = withSuggestions(base, history, { tip: null, gasPrice: null })
    expect(feesFor(base, nothing, 1_000n * GWEI).maxPriorityFeePerGas).toBe(GWEI / 100n)
    const dear = withSuggestions(base, history, { tip: 700n * GWEI, gasPrice: 700n * GWEI })
    expect(feesFor(base, dear, 1_000n * GWEI).maxPriorityFeePerGas).toBe(30n * GWEI)
  })

  test('leaves the base fee to the price, where the head names none either', () => {
    const bare = head(1, 0n)
    const completed = withSuggestions(bare, parseFeeHistory(null), {
      tip: GWEI,
      gasPrice: 9n * GWEI,
    })
    expect(feesFor(bare, completed, 1_000n * GWEI)).toEqual({
      maxFeePerGas: 19n * GWEI,
      maxPriorityFeePerGas: GWEI,
    })
  })

  test('of percentiles that fall takes the lowest for low', () => {
    const falling = parseFeeHistory({
      baseFeePerGas: ['0x3', '0x2'],
      gasUsedRatio: [0.5],
      reward: [['0x9', '0x4']],
    })
    expect(falling).toMatchObject({ tipsPerGas: [4n], lowTipPerGas: 4n })
  })
})
