import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  adjustReservation,
  capBreach,
  combine,
  dayEndMs,
  monthEndMs,
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  type SpendCounters,
  settle,
  unsettle,
  utcDay,
  utcMonth,
} from '../../src/domain/spend.js'

const at = (text: string) => Date.parse(text)

function spent(text: string, micros: bigint): SpendCounters {
  const nowMs = at(text)
  const window = { micros, day: utcDay(nowMs), month: utcMonth(nowMs) }
  return reserve(rollForward(NO_SPEND, nowMs), window)
}

describe('spend windows', () => {
  test.for([
    ['the last millisecond of a day', '2025-06-15T23:59:59.999Z', '2025-06-16T00:00:00.000Z'],
    ['the last day of a month', '2025-06-30T23:59:59.999Z', '2025-07-01T00:00:00.000Z'],
    ['the last day of a year', '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z'],
    ['a leap day', '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
    ['28 February of a leap year', '2028-02-28T23:59:59.999Z', '2028-02-29T00:00:00.000Z'],
    ['28 February of another year', '2100-02-28T23:59:59.999Z', '2100-03-01T00:00:00.000Z'],
    ['the epoch', '1970-01-01T00:00:00.000Z', '1970-01-02T00:00:00.000Z'],
  ])('%s ends at midnight UTC', ([, now = '', end = '']) => {
    expect(new Date(dayEndMs(utcDay(at(now)))).toISOString()).toBe(end)
    expect(utcDay(at(end))).toBe(utcDay(at(now)) + 1)
  })

  test.for([
    ['2025-01-31T12:00:00Z', '2025-02-01T00:00:00.000Z'],
    ['2025-12-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2028-02-29T23:59:59Z', '2028-03-01T00:00:00.000Z'],
    ['2100-02-28T23:59:59Z', '2100-03-01T00:00:00.000Z'],
  ])('the month of %s ends at %s', ([now = '', end = '']) => {
    expect(new Date(monthEndMs(utcMonth(at(now)))).toISOString()).toBe(end)
  })

  test('a new day opens the daily window, a new month both', () => {
    const before = spent('2025-06-29T12:00:00Z', 7n)
    expect(rollForward(before, at('2025-06-30T00:00:00Z'))).toMatchObject({
      dayMicros: 0n,
      monthMicros: 7n,
      reservedMicros: 7n,
    })
    expect(rollForward(before, at('2025-07-01T00:00:00Z'))).toMatchObject({
      dayMicros: 0n,
      monthMicros: 0n,
      reservedMicros: 7n,
    })
  })

  test('a clock that steps back opens nothing, however far', () => {
    const before = spent('2025-07-01T00:00:00Z', 7n)
    expect(rollForward(before, at('2025-06-30T23:59:59Z'))).toBe(before)
    for (const then of ['2025-06-30T12:00:00Z', '2025-06-01T00:00:00Z', '2024-07-01T00:00:00Z']) {
      expect(rollForward(before, at(then))).toMatchObject({ dayMicros: 7n, monthMicros: 7n })
    }
  })

  test('a window of a time that cannot be yet counts now, and ends with the window of now', () => {
    const glitch = spent('2026-06-15T12:00:00Z', 7n)
    const back = rollForward(glitch, at('2025-06-15T12:00:00Z'))
    expect(back).toMatchObject({ dayMicros: 7n, monthMicros: 7n })
    const nextDay = rollForward(back, at('2025-06-16T00:00:00Z'))
    expect(nextDay).toMatchObject({ dayMicros: 0n, monthMicros: 7n })
    const nextMonth = rollForward(nextDay, at('2025-07-01T00:00:00Z'))
    expect(nextMonth).toMatchObject({ dayMicros: 0n, monthMicros: 0n, reservedMicros: 7n })
  })

  test('what was counted in such a window can make the present one more, and never less', () => {
    const glitchAt = at('2026-06-15T12:00:00Z')
    const reservation = { micros: 10n, day: utcDay(glitchAt), month: utcMonth(glitchAt) }
    const later = rollForward(spent('2026-06-15T12:00:00Z', 10n), at('2025-06-16T12:00:00Z'))
    expect(settle(later, reservation, 3n)).toEqual({ ...later, reservedMicros: 0n })
    expect(unsettle(later, reservation, 3n)).toMatchObject({ dayMicros: 17n, monthMicros: 17n })
  })

  test('what a reservation holds more or less empties no window, be its own one that cannot be yet', () => {
    const glitchAt = at('2026-06-15T12:00:00Z')
    const reservation = { micros: 10n, day: utcDay(glitchAt), month: utcMonth(glitchAt) }
    const later = rollForward(spent('2026-06-15T12:00:00Z', 10n), at('2025-06-16T12:00:00Z'))
    const now = { day: later.day, month: later.month }
    const busy = reserve(later, { micros: 90n, ...now })
    const more = adjustReservation(busy, reservation, 5n)
    expect(more).toMatchObject({ ...now, monthMicros: 105n, reservedMicros: 105n })
    expect(more.dayMicros).toBe(busy.dayMicros + 5n)
    expect(adjustReservation(more, reservation, -5n)).toEqual({ ...more, reservedMicros: 100n })
  })

  test('what settles after its window has closed leaves the open one alone', () => {
    const nowMs = at('2025-06-30T23:59:59Z')
    const window: Reservation = { micros: 10n, day: utcDay(nowMs), month: utcMonth(nowMs) }
    const later = rollForward(reserve(rollForward(NO_SPEND, nowMs), window), nowMs + 1_000)
    expect(settle(later, window, 3n)).toEqual({ ...later, reservedMicros: 0n })
    expect(settle(later, window, 0n)).toEqual({ ...later, reservedMicros: 0n })
  })

  test('a cap is full at its last micro-dollar and not before; the day is named first', () => {
    const counters = spent('2025-06-15T12:00:00Z', 60n)
    const caps = (dailyLimitMicros: bigint | null, monthlyLimitMicros: bigint | null) => ({
      dailyLimitMicros,
      monthlyLimitMicros,
    })
    expect(capBreach(counters, caps(100n, null), 40n)).toBeNull()
    expect(capBreach(counters, caps(100n, 100n), 41n)).toMatchObject({
      period: 'daily',
      resetsAtMs: at('2025-06-16T00:00:00Z'),
    })
    expect(capBreach(counters, caps(null, 100n), 41n)).toMatchObject({
      period: 'monthly',
      resetsAtMs: at('2025-07-01T00:00:00Z'),
    })
    expect(capBreach(counters, caps(null, null), 2n ** 200n)).toBeNull()
    expect(capBreach(counters, caps(0n, null), 0n)).toMatchObject({ period: 'daily' })
  })

  test('what was never reserved is not given back: counters refuse to go below zero', () => {
    const nowMs = at('2025-06-15T12:00:00Z')
    const window = { micros: 5n, day: utcDay(nowMs), month: utcMonth(nowMs) }
    const once = reserve(rollForward(NO_SPEND, nowMs), window)
    expect(() => settle(settle(once, window, 0n), window, 0n)).toThrow('below zero')
    expect(() => settle(NO_SPEND, { micros: 5n, day: 1, month: 1 }, 0n)).toThrow('below zero')
  })

  test('a reservation of a newer window than its counters have seen counts in it', () => {
    const before = spent('2025-06-15T12:00:00Z', 7n)
    const window = { micros: 5n, day: before.day + 1, month: before.month }
    const after = reserve(before, window)
    expect(after).toMatchObject({ day: window.day, dayMicros: 5n, monthMicros: 12n })
    expect(settle(after, window, 0n)).toMatchObject({ dayMicros: 0n, monthMicros: 7n })
  })

  const moment = fc.integer({ min: 0, max: at('2101-01-01T00:00:00Z') })
  const micros = fc.bigInt({ min: 0n, max: 10n ** 12n })

  /** Close together too, so that windows are met again after the clock has stepped back. */
  const nearby = fc.integer({ min: at('2025-06-27T00:00:00Z'), max: at('2025-07-04T00:00:00Z') })
  const times = fc.oneof(fc.array(moment, { maxLength: 30 }), fc.array(nearby, { maxLength: 30 }))

  /** Reserves at each time, and settles the oldest reservation now and then. */
  function* spending(at: readonly number[], drawn: readonly [bigint, bigint, boolean][]) {
    let counters = NO_SPEND
    const open: { window: Reservation; spentMicros: bigint }[] = []
    for (const [n, nowMs] of at.entries()) {
      const [reservedMicros, spentMicros, endsOne] = drawn[n % drawn.length] ?? [0n, 0n, false]
      counters = rollForward(counters, nowMs)
      const { day, month } = counters
      const window = { micros: reservedMicros, day, month }
      counters = reserve(counters, window)
      open.push({ window, spentMicros: spentMicros < reservedMicros ? spentMicros : 0n })
      const ended = endsOne ? open.shift() : undefined
      if (ended !== undefined) counters = settle(counters, ended.window, ended.spentMicros)
      yield { counters, heldMicros: open.reduce((sum, { window: it }) => sum + it.micros, 0n) }
    }
  }
  const drawn = fc.array(fc.tuple(micros, micros, fc.boolean()), { minLength: 1, maxLength: 30 })

  test('reserved and settled, in any order and over any windows, never goes below nothing', () => {
    fc.assert(
      fc.property(times, drawn, (list, amounts) => {
        for (const { counters, heldMicros } of spending(list, amounts)) {
          expect(counters.dayMicros).toBeGreaterThanOrEqual(0n)
          expect(counters.monthMicros).toBeGreaterThanOrEqual(0n)
          expect(counters.reservedMicros).toBe(heldMicros)
        }
      }),
    )
  })

  test('a month has no less than its day, while the clock goes forward', () => {
    fc.assert(
      fc.property(times, drawn, (list, amounts) => {
        for (const { counters } of spending(
          list.toSorted((a, b) => a - b),
          amounts,
        )) {
          expect(counters.monthMicros).toBeGreaterThanOrEqual(counters.dayMicros)
        }
      }),
    )
  })

  test('a settlement that is taken back leaves what was before', () => {
    fc.assert(
      fc.property(moment, micros, micros, (nowMs, reservedMicros, spentMicros) => {
        const opened = rollForward(NO_SPEND, nowMs)
        const window = { micros: reservedMicros, day: opened.day, month: opened.month }
        const before = reserve(opened, window)
        expect(unsettle(settle(before, window, spentMicros), window, spentMicros)).toEqual(before)
      }),
    )
  })

  // Few enough that windows are left, e.g. for those of a clock that was wrong, and come again.
  const glitching = fc.constantFrom(
    ...['2025-06-15T12:00:00Z', '2025-06-16T00:01:00Z', '2025-07-01T00:01:00Z'].map(at),
    ...['2025-07-31T12:00:00Z', '2026-06-15T12:00:00Z'].map(at),
  )

  test('no order of reservations, settlements and deep reorgs stops a wallet, over any windows', () => {
    const steps = fc.array(
      fc.tuple(glitching, fc.constantFrom('reserve', 'settle', 'reorg'), micros, fc.nat(9)),
      { maxLength: 40, size: 'max' },
    )
    fc.assert(
      fc.property(steps, (list) => {
        let counters = NO_SPEND
        const open: Reservation[] = []
        const settled: { window: Reservation; spentMicros: bigint }[] = []
        for (const [nowMs, what, amount, nth] of list) {
          counters = rollForward(counters, nowMs)
          if (what === 'reserve') {
            const window = { micros: amount, day: counters.day, month: counters.month }
            counters = reserve(counters, window)
            open.push(window)
          } else if (what === 'settle') {
            const [window] = open.splice(nth % Math.max(open.length, 1), 1)
            if (window === undefined) continue
            counters = settle(counters, window, amount)
            settled.push({ window, spentMicros: amount })
          } else {
            const [ended] = settled.splice(nth % Math.max(settled.length, 1), 1)
            if (ended === undefined) continue
            counters = unsettle(counters, ended.window, ended.spentMicros)
            open.push(ended.window)
          }
          expect(counters.dayMicros).toBeGreaterThanOrEqual(0n)
          expect(counters.monthMicros).toBeGreaterThanOrEqual(0n)
          expect(counters.reservedMicros).toBe(open.reduce((sum, it) => sum + it.micros, 0n))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('two sets of counters add up as one would have counted', () => {
    const entries = fc.array(fc.tuple(moment, micros, fc.boolean()), { maxLength: 20 })
    fc.assert(
      fc.property(entries, moment, (list, end) => {
        const count = (mine: readonly (typeof list)[number][]) =>
          mine.reduce((counters, [nowMs, amount]) => {
            const { day, month, ...rest } = rollForward(counters, nowMs)
            return reserve({ day, month, ...rest }, { micros: amount, day, month })
          }, NO_SPEND)
        const inOrder = [...list].sort(([a], [b]) => a - b)
        const nowMs = Math.max(end, ...inOrder.map(([time]) => time))
        const left = count(inOrder.filter(([, , side]) => side))
        const right = count(inOrder.filter(([, , side]) => !side))
        expect(combine(left, right, nowMs)).toEqual(rollForward(count(inOrder), nowMs))
      }),
    )
  })
})
