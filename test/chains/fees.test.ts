import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bump, type Fees, feesFor, offerCeiling, parseFeeHistory } from '../../src/chains/fees.js'
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
  }

  test('the tip is the median of recent ones, the fee twice the next base fee above it', () => {
    expect(feesFor(head(1, 10n * GWEI), history, 1_000n * GWEI)).toEqual({
      maxFeePerGas: 24n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    })
  })

  test('quiet chains offer their floor: 25 gwei on Polygon, 0.05 on BNB, nothing on Arbitrum', () => {
    const quiet = { baseFeesPerGas: [0n, 0n], tipsPerGas: [] }
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
    expect(parsed).toEqual({ baseFeesPerGas: [1n, 2n, 3n], tipsPerGas: [7n] })
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
            { baseFeesPerGas: [base], tipsPerGas: tips },
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
        const history = { baseFeesPerGas: [base], tipsPerGas: tips }
        const first = feesFor(head(1, base), history, ceiling)
        const market = feesFor(head(1, later), history, ceiling)
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
