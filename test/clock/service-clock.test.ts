import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  attachChainTime,
  createChainTimeBuffer,
  keepChainTime,
} from '../../src/clock/chain-time.js'
import { createServiceClock } from '../../src/clock/service-clock.js'
import { CLOCK_ERROR_MAX_MS } from '../../src/domain/clock.js'
import { ID_PREFIX, isId } from '../../src/domain/ids.js'
import {
  capBreach,
  NO_SPEND,
  reserve,
  rollForward,
  type SpendCounters,
  utcDay,
} from '../../src/domain/spend.js'
import { newId } from '../../src/store/new-id.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const START_MS = Date.parse('2026-03-30T09:00:00Z')
const CHAINS = [1, 10, 56, 137, 8453, 42161]

const random = { fraction: () => 0, bytes: (count: number) => new Uint8Array(count) }

/** True time and what the machine and the chains make of it. */
class World {
  trueMs = START_MS
  /** By how much the machine's clock is wrong. */
  errorMs = 0
  #blocks = 0
  readonly #buffer = createChainTimeBuffer()
  readonly #monotonicMs = () => this.trueMs - START_MS
  readonly #keep = keepChainTime(this.#buffer, { monotonicMs: this.#monotonicMs })
  clock = this.#open()

  #open() {
    const monotonicMs = this.#monotonicMs
    const chainTime = attachChainTime(this.#buffer, { monotonicMs })
    return createServiceClock({
      chainTime,
      machineMs: () => Math.floor(this.trueMs + this.errorMs),
      monotonicMs,
    })
  }

  /** Forgets what machine and chains last agreed on. */
  restart(): void {
    this.clock = this.#open()
  }

  /** A block of a chain, made some time ago. */
  head(chainId: number, ageMs: number): void {
    const timestampMs = Math.floor((this.trueMs - ageMs) / 1_000) * 1_000
    this.#keep({ chainId, hash: `0x${++this.#blocks}`, timestampMs })
  }

  heads(): void {
    for (const chainId of CHAINS) this.head(chainId, 2_000)
  }
}

describe("the service's clock", () => {
  test("is the machine's while the chains bear it out", () => {
    const world = new World()
    expect(world.clock.nowMs()).toBe(START_MS)
    world.heads()
    world.errorMs = CLOCK_ERROR_MAX_MS - 5_000
    expect(world.clock.nowMs()).toBe(START_MS + world.errorMs)
    expect(world.clock.refusal()).toBeNull()
  })

  test('tells whole milliseconds, of which ids are made, whatever the monotonic clock does', () => {
    for (const hasAgreed of [true, false]) {
      const world = new World()
      if (hasAgreed) world.heads()
      world.trueMs += 7_000.371
      expect(Number.isInteger(world.clock.nowMs())).toBe(true)
      world.errorMs = HOUR_MS
      world.head(1, 1_000)
      expect(world.clock.refusal()).not.toBeNull()
      expect(Number.isInteger(world.clock.nowMs())).toBe(true)
      expect(Number.isInteger(world.clock.latestMs())).toBe(true)
      expect(
        isId(ID_PREFIX.event, newId(ID_PREFIX.event, { now: world.clock.nowMs, random })),
      ).toBe(true)
    }
  })

  test('is not relied on before the first block: no write begins, and then it is', () => {
    const world = new World()
    for (const errorMs of [0, DAY_MS]) {
      world.errorMs = errorMs
      expect(world.clock.refusal()).toMatchObject({
        code: 'WRITES_STOPPED',
        details: { reason: 'clock' },
        message: expect.stringContaining('No block has been seen'),
      })
    }
    world.errorMs = 0
    world.heads()
    expect(world.clock.refusal()).toBeNull()
  })

  test.for([365 * DAY_MS, DAY_MS, HOUR_MS, -HOUR_MS, -365 * DAY_MS])(
    'set wrong by %d ms it stops writes, goes on as before, and heals with the machine',
    (errorMs) => {
      const world = new World()
      world.heads()
      world.clock.nowMs()
      world.errorMs = errorMs
      world.trueMs += 2 * HOUR_MS
      world.heads()
      expect(world.clock.nowMs()).toBe(world.trueMs)
      const refusal = world.clock.refusal()
      expect(refusal).toMatchObject({ code: 'WRITES_STOPPED', details: { reason: 'clock' } })
      expect(refusal?.message).toContain(errorMs > 0 ? 'ahead of' : 'behind')
      world.errorMs = 0
      expect(world.clock.refusal()).toBeNull()
      expect(world.clock.nowMs()).toBe(world.trueMs)
    },
  )

  test('a start with a clock a year ahead takes the earlier time and stops writes', () => {
    const world = new World()
    world.errorMs = 365 * DAY_MS
    world.heads()
    expect(world.clock.nowMs()).toBeLessThanOrEqual(world.trueMs)
    expect(world.clock.refusal()).not.toBeNull()
  })

  test('a chain that lags and answers first brings no key back that has ended', () => {
    const world = new World()
    world.head(1, DAY_MS)
    expect(world.clock.nowMs()).toBeLessThan(world.trueMs)
    expect(world.clock.latestMs()).toBe(world.trueMs)
    world.errorMs = -DAY_MS
    world.heads()
    expect(world.clock.latestMs()).toBeGreaterThan(world.trueMs - CLOCK_ERROR_MAX_MS)
  })

  test('set ahead after it was right it ends no key', () => {
    const world = new World()
    world.heads()
    world.clock.nowMs()
    world.errorMs = 365 * DAY_MS
    world.trueMs += HOUR_MS
    expect(world.clock.latestMs()).toBe(world.trueMs)
  })

  test('chains that stop, lag or lie do not stop writes while most of them are right', () => {
    const world = new World()
    world.heads()
    world.head(1, 3 * HOUR_MS)
    world.head(10, -DAY_MS)
    expect(world.clock.refusal()).toBeNull()
    world.trueMs += HOUR_MS
    expect(world.clock.refusal(), 'nothing but silence').toBeNull()
  })

  test('chains that all lie stop writes and move no time', () => {
    const world = new World()
    world.heads()
    world.clock.nowMs()
    for (const chainId of CHAINS) world.head(chainId, -DAY_MS)
    world.trueMs += 1_000
    expect(world.clock.nowMs()).toBe(world.trueMs)
    expect(world.clock.refusal()?.details).toEqual({ reason: 'clock' })
  })
})

const CAP = 100n

const step = fc.oneof(
  fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 9 * HOUR_MS }) }),
  fc.record({
    type: fc.constant('jump' as const),
    toMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: -CLOCK_ERROR_MAX_MS, max: CLOCK_ERROR_MAX_MS }),
      fc.integer({ min: -400, max: 400 }).map((days) => days * DAY_MS),
      fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
    ),
  }),
  fc.record({ type: fc.constant('heads' as const) }),
  fc.record({ type: fc.constant('restart' as const) }),
  fc.record({ type: fc.constant('spend' as const), micros: fc.bigInt({ min: 1n, max: 60n }) }),
)

/** As an actor: caps are asked and reserved in one step, at the service's time. */
function spend(
  counters: SpendCounters,
  world: World,
  micros: bigint,
): { readonly counters: SpendCounters; readonly spent: boolean } {
  const open = rollForward(counters, world.clock.nowMs())
  const caps = { dailyLimitMicros: CAP, monthlyLimitMicros: null }
  if (world.clock.refusal() !== null || capBreach(open, caps, micros) !== null) {
    return { counters: open, spent: false }
  }
  const { day, month } = open
  return { counters: reserve(open, { micros, day, month }), spent: true }
}

/** The day's own part of it: what happens nearer to midnight than the clock is exact may be of either. */
function certainDay(trueMs: number): number | null {
  const day = utcDay(trueMs - CLOCK_ERROR_MAX_MS - 5_000)
  return day === utcDay(trueMs + CLOCK_ERROR_MAX_MS + 5_000) ? day : null
}

describe('caps under a clock that jumps', () => {
  test('no jumps gain spend: what a true day has used never passes its cap', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = new World()
        world.heads()
        let counters = NO_SPEND
        let total = 0n
        const used = new Map<number, bigint>()
        for (const it of steps) {
          if (it.type === 'pass') world.trueMs += it.ms
          else if (it.type === 'jump') world.errorMs = it.toMs
          else if (it.type === 'heads') world.heads()
          else if (it.type === 'restart') world.restart()
          else {
            const after = spend(counters, world, it.micros)
            counters = after.counters
            if (!after.spent) continue
            total += it.micros
            const day = certainDay(world.trueMs)
            if (day !== null) used.set(day, (used.get(day) ?? 0n) + it.micros)
          }
        }
        for (const [day, micros] of used) expect(micros, `day ${day}`).toBeLessThanOrEqual(CAP)
        // The clock may open one window more than there were days, at the very end.
        const days = utcDay(world.trueMs + CLOCK_ERROR_MAX_MS) - utcDay(START_MS) + 1
        expect(total).toBeLessThanOrEqual(CAP * BigInt(days))
      }),
      { numRuns: 300 },
    )
  })

  test('no jump keeps a cap closed past the next true midnight, nor does a window left in the future', () => {
    const aheadDays = fc.integer({ min: -400, max: 400 })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), aheadDays, (steps, days) => {
        const world = new World()
        world.heads()
        const left = rollForward(NO_SPEND, START_MS + days * DAY_MS)
        let counters = reserve(left, { micros: CAP, day: left.day, month: left.month })
        for (const it of steps) {
          if (it.type === 'pass') world.trueMs += it.ms
          else if (it.type === 'jump') world.errorMs = it.toMs
          else if (it.type === 'heads') world.heads()
          else if (it.type === 'restart') world.restart()
          else counters = spend(counters, world, it.micros).counters
        }
        world.errorMs = 0
        world.heads()
        counters = rollForward(counters, world.clock.nowMs())
        // At the very end of a day the clock may have opened the next one already.
        const wait = certainDay(world.trueMs) === null ? 2 : 1
        world.trueMs = (utcDay(world.trueMs) + wait) * DAY_MS
        world.heads()
        expect(spend(counters, world, CAP).spent).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
