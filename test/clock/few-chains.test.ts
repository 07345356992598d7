import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  attachChainTime,
  createChainTimeBuffer,
  keepChainTime,
} from '../../src/clock/chain-time.js'
import { createServiceClock, type ServiceClock } from '../../src/clock/service-clock.js'
import { CLOCK_ERROR_MAX_MS } from '../../src/domain/clock.js'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const TRUE_MS = Date.parse('2026-03-30T09:00:00Z')
const MONOTONIC = { monotonicMs: () => 1_000 }

/**
 * A clock at a start.
 * @param errorMs by how much the machine's is wrong
 * @param agesMs of the newest block of each chain, as its node says
 */
function clockWith(errorMs: number, agesMs: readonly number[]): ServiceClock {
  const buffer = createChainTimeBuffer()
  const note = keepChainTime(buffer, MONOTONIC)
  for (const [chainId, ageMs] of agesMs.entries()) {
    note({ chainId, hash: `0x${chainId}`, timestampMs: TRUE_MS - ageMs })
  }
  const chainTime = attachChainTime(buffer, MONOTONIC)
  return createServiceClock({ chainTime, machineMs: () => TRUE_MS + errorMs, ...MONOTONIC })
}

const isStopped = (errorMs: number, agesMs: readonly number[]) =>
  clockWith(errorMs, agesMs).refusal() !== null

describe('of two chains', () => {
  test.for([10 * MINUTE_MS, 3 * DAY_MS])(
    'one that is %d ms behind, or had halted before the start, stops no write',
    (lagMs) => {
      expect(isStopped(0, [2_000, lagMs])).toBe(false)
      expect(isStopped(0, [lagMs, 2_000])).toBe(false)
    },
  )

  test('one that halted bears out no clock that is wrong', () => {
    for (const errorMs of [-10 * MINUTE_MS, 10 * MINUTE_MS, DAY_MS, -DAY_MS]) {
      expect(isStopped(errorMs, [2_000, 3 * DAY_MS]), `${errorMs}`).toBe(true)
    }
  })

  test('writes stop when neither bears the clock out', () => {
    expect(isStopped(0, [10 * MINUTE_MS, 3 * DAY_MS])).toBe(true)
  })
})

test('a single chain has to bear the clock out', () => {
  expect(isStopped(0, [2_000])).toBe(false)
  expect(isStopped(0, [10 * MINUTE_MS]), 'it lags, or the clock is ahead').toBe(true)
  expect(isStopped(10 * MINUTE_MS, [2_000])).toBe(true)
})

const honest = fc.integer({ min: 0, max: 20_000 })
const anything = fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS })
const wrong = fc
  .tuple(fc.constantFrom(-1, 1), fc.integer({ min: 1_000, max: 3 * DAY_MS }))
  .map(([side, ms]) => side * (CLOCK_ERROR_MAX_MS + 20_000 + ms))

/** So many chains, of which fewer than half say whatever they like, in any order. */
const mostlyHonest = fc.integer({ min: 1, max: 8 }).chain((count) => {
  const liars = Math.floor((count - 1) / 2)
  return fc
    .tuple(
      fc.array(anything, { minLength: liars, maxLength: liars }),
      fc.array(honest, { minLength: count - liars, maxLength: count - liars }),
    )
    .chain(([lies, truths]) =>
      fc.shuffledSubarray([...lies, ...truths], { minLength: count, maxLength: count }),
    )
})

describe('of however many chains', () => {
  test('fewer than half that lie or lag neither stop writes nor bear out a wrong clock', () => {
    fc.assert(
      fc.property(mostlyHonest, wrong, (agesMs, errorMs) => {
        expect(isStopped(0, agesMs)).toBe(false)
        expect(isStopped(errorMs, agesMs)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('half that lag or have halted stop no write', () => {
    const halves = fc.integer({ min: 1, max: 4 }).chain((half) => {
      const size = { minLength: half, maxLength: half }
      return fc.tuple(fc.array(honest, size), fc.array(fc.integer({ min: 0, max: DAY_MS }), size))
    })
    fc.assert(
      fc.property(halves, ([truths, lags]) => {
        expect(isStopped(0, [...lags, ...truths])).toBe(false)
      }),
    )
  })
})
