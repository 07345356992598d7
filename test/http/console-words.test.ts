import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agoOf, leftOf } from '../../src/console/parts/durations.js'
import {
  exactMicros,
  formatCap,
  formatUnits,
  formatUsd,
  parseUnits,
  shareOfCap,
  usdMicros,
} from '../../src/console/parts/money.js'

/** How the console writes amounts and times. */

describe('amounts', () => {
  it.each([
    ['0', '$0.00'],
    ['1234.5', '$1,234.50'],
    ['0.000001', '$0.000001'],
    ['2853.000021', '$2,853.00'],
    ['1.995', '$2.00'],
    ['999999999999.99', '$999,999,999,999.99'],
  ])('%s is written %s', (text, words) => {
    expect(formatUsd(text)).toBe(words)
  })

  it('show what they are when they are no amount, and no cap as such', () => {
    expect(formatUsd('1e9')).toBe('1e9')
    expect(formatCap('unlimited')).toBe('No cap')
  })

  it('lose no digit between text and micro-USD', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 20n), (micros) => {
        const text = exactMicros(micros).replaceAll(/[$,]/g, '')
        expect(usdMicros(text)).toBe(micros)
      }),
    )
  })

  it('of a cap never look less than full when it is used up', () => {
    expect(shareOfCap(0n, '500')).toBe(0)
    expect(shareOfCap(250_000_000n, '500')).toBe(500)
    expect(shareOfCap(600_000_000n, '500')).toBe(1_000)
    expect(shareOfCap(0n, '0')).toBe(1_000)
    expect(shareOfCap(1n, 'unlimited')).toBeNull()
  })

  it.each([
    ['1500000', 6, '1.5'],
    ['10000000000000000000', 18, '10'],
    ['1', 18, '< 0.000001'],
    ['0', 18, '0'],
    ['1234567', 0, '1,234,567'],
  ])('%s with %i decimals is %s, never more than there is', (amount, decimals, words) => {
    expect(formatUnits(amount, decimals)).toBe(words)
  })
})

describe('what a person types', () => {
  it.each([
    ['1.5', 6, '1500000'],
    ['0.000000000000000001', 18, '1'],
    ['12', 0, '12'],
  ])('%s with %i decimals is %s of the smallest unit', (text, decimals, amount) => {
    expect(parseUnits(text, decimals)).toBe(amount)
  })

  it.each(['', '1e18', '-1', '1,5', '0.0000001', '.5'])('%j is no amount of USDC', (text) => {
    expect(parseUnits(text, 6)).toBeNull()
  })
})

describe('times', () => {
  it.each([
    [1_000, 'just now'],
    [59_999, '59 s ago'],
    [3_600_000, '1 h ago'],
    [26 * 3_600_000, 'yesterday'],
  ])('%i ms ago is %s', (ms, words) => {
    expect(agoOf(ms)).toBe(words)
  })

  it.each([
    [-1, 'expired'],
    [59_000, '59 s'],
    [24 * 3_600_000 - 1, '23 h 59 min'],
  ])('%i ms left is %s', (ms, words) => {
    expect(leftOf(ms)).toBe(words)
  })
})
