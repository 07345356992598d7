import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedLeast } from '../../src/defi/exchange-of.js'
import {
  type Exchange,
  leastOutputWithin,
  lossBps,
  type UnitWorth,
  worthOfOutput,
} from '../../src/domain/exchange.js'

const WORTH: fc.Arbitrary<UnitWorth> = fc
  .tuple(fc.bigInt(1n, 10n ** 12n), fc.nat(30))
  .map(([numerator, scale]) => ({ numerator, denominator: 10n ** BigInt(scale) }))
const EXCHANGE: fc.Arbitrary<Exchange> = fc.record({
  netIn: fc.bigInt(1n, 10n ** 30n),
  unitIn: WORTH,
  unitOut: WORTH,
})
const BPS = fc.nat(10_000)
const AMOUNT = fc.bigInt(1n, 10n ** 40n)

/** By fractions, with nothing rounded. */
function keeps({ netIn, unitIn, unitOut }: Exchange, out: bigint, maxLossBps: number): boolean {
  const worthOut = out * unitOut.numerator * unitIn.denominator * 10_000n
  const worthIn = netIn * unitIn.numerator * unitOut.denominator
  return worthOut >= worthIn * BigInt(10_000 - maxLossBps)
}

test('a loss is within a bound exactly where the fractions say so', () => {
  fc.assert(
    fc.property(EXCHANGE, AMOUNT, BPS, (exchange, out, bound) => {
      expect(lossBps(exchange, out) <= bound).toBe(keeps(exchange, out, bound))
    }),
    { numRuns: 20_000 },
  )
})

test('the least output within a bound keeps it, and one unit less does not', () => {
  fc.assert(
    fc.property(EXCHANGE, BPS, (exchange, bound) => {
      const least = leastOutputWithin(exchange, bound)
      if (least === null) throw new Error('the output is worth something')
      expect(keeps(exchange, least, bound)).toBe(true)
      if (least > 0n) expect(keeps(exchange, least - 1n, bound)).toBe(false)
    }),
    { numRuns: 20_000 },
  )
})

test('what is signed keeps the bound wherever the offer does and the slippage is within it', () => {
  fc.assert(
    fc.property(
      ...([EXCHANGE, AMOUNT, BPS, BPS] as const),
      (exchange, offered, slippageBps, maxLossBps) => {
        const taken = (offered * BigInt(10_000 - slippageBps)) / 10_000n || 1n
        const least = boundedLeast(exchange, offered, taken, { slippageBps, maxLossBps })
        expect(least).toBeGreaterThanOrEqual(taken)
        expect(least).toBeLessThanOrEqual(offered)
        if (slippageBps > maxLossBps) expect(least).toBe(taken)
        else expect(keeps(exchange, least, maxLossBps)).toBe(keeps(exchange, offered, maxLossBps))
      },
    ),
    { numRuns: 20_000 },
  )
})

test('an output that is worth nothing keeps no bound but that of all, and is never rounded up', () => {
  const unit = { numerator: 3n, denominator: 10n ** 6n }
  const worthless: Exchange = {
    ...{ netIn: 5n, unitIn: unit, unitOut: { numerator: 0n, denominator: 1n } },
  }
  expect(lossBps(worthless, 10n ** 30n)).toBe(10_000)
  expect(leastOutputWithin(worthless, 9_999)).toBeNull()
  expect(leastOutputWithin(worthless, 10_000)).toBe(0n)
  expect(worthOfOutput({ ...worthless, unitOut: unit }, 1n)).toBe(3n)
  const dust: Exchange = {
    ...{ netIn: 1n, unitIn: unit, unitOut: { numerator: 1n, denominator: 10n ** 18n } },
  }
  expect(worthOfOutput(dust, 1n)).toBe(0n)
})
