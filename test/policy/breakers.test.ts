import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BreakerTally,
  NO_TALLY,
  replayBreakers,
  type Watched,
  watch,
} from '../../src/policy/breakers.js'
import { policyEnlarges } from '../../src/policy/enlarges.js'
import type { Breaker } from '../../src/policy/policy.js'
import { BUCKETS } from '../../src/policy/sliding-buckets.js'

import { policyOf } from './random-policies.js'

const NOON = Date.UTC(2026, 0, 31, 12)
const SECOND_MS = 1_000
const USD = 1_000_000n

const refusals = (count: number, perSeconds: number): Breaker => ({
  ...{ kind: 'refusals', count, factor: null, perSeconds },
})
const payees = (count: number, perSeconds: number): Breaker => ({
  ...{ kind: 'new_beneficiaries', count, factor: null, perSeconds },
})
const spend = (factor: number, perSeconds: number): Breaker => ({
  ...{ kind: 'spend_factor', count: null, factor, perSeconds },
})
const refused = (second: number): Watched => ({
  type: 'refused',
  atMs: NOON + second * SECOND_MS,
})
const signed = (second: number, usd: number, newBeneficiaries = 0): Watched => ({
  ...{ type: 'signed', atMs: NOON + second * SECOND_MS },
  ...{ micros: BigInt(usd) * USD, newBeneficiaries },
})

describe('a breaker of refusals', () => {
  test('trips at its count within its time, and begins again', () => {
    const five = [0, 1, 2, 3, 4].map(refused)
    const trips = replayBreakers([refusals(5, 10)], [...five, ...[5, 6, 7, 8].map(refused)])
    expect(trips).toMatchObject([
      { atMs: NOON + 4_000, reason: 'breaker: 5 refusals in 10 s, where 5 are too many' },
    ])
  })

  test('forgets what is longer ago than its time', () => {
    expect(replayBreakers([refusals(3, 10)], [0, 6, 12, 18, 24].map(refused))).toEqual([])
    expect(replayBreakers([refusals(3, 10)], [0, 6, 9].map(refused))).toHaveLength(1)
  })

  test('does not look at calls that were signed', () => {
    const calls = [0, 1, 2, 3].map((second) => signed(second, 1, 1))
    expect(replayBreakers([refusals(1, 100)], calls)).toEqual([])
  })
})

describe('a breaker of new beneficiaries', () => {
  test('counts those that had not been paid, and no other call', () => {
    const calls = [signed(0, 1, 1), signed(1, 1, 0), signed(2, 1, 0), signed(3, 1, 2)]
    expect(replayBreakers([payees(3, 60)], calls)).toMatchObject([{ atMs: NOON + 3_000 }])
    expect(replayBreakers([payees(4, 60)], calls)).toEqual([])
  })
})

describe('a breaker of spend', () => {
  const usual = [0, 60, 120, 180, 240].map((second) => signed(second, 10))

  test('trips at more than so many times the mean of the times before', () => {
    const trips = replayBreakers([spend(5, 60)], [...usual, signed(300, 51)])
    expect(trips).toMatchObject([
      { reason: 'breaker: 51.00 USD in 60 s, more than 5 times the mean of 10.00 USD' },
    ])
    expect(replayBreakers([spend(5, 60)], [...usual, signed(300, 50)])).toEqual([])
  })

  test('leaves a key alone that has no habit yet, or rested', () => {
    expect(replayBreakers([spend(2, 60)], [signed(0, 1), signed(60, 1), signed(120, 99)])).toEqual(
      [],
    )
    expect(replayBreakers([spend(2, 60)], [...usual, signed(9_000, 999)])).toEqual([])
  })
})

const BREAKERS = fc.array(
  fc.oneof(
    fc
      .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 90 }))
      .map(([n, s]) => refusals(n, s)),
    fc
      .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 90 }))
      .map(([n, s]) => payees(n, s)),
    fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 90 }))
      .map(([n, s]) => spend(n, s)),
  ),
  { maxLength: 8 },
)
const LOG = fc
  .array(
    fc
      .tuple(fc.nat(900), fc.boolean(), fc.nat(50), fc.nat(3))
      .map(([second, isRefusal, usd, fresh]) =>
        isRefusal ? refused(second) : signed(second, usd, fresh),
      ),
    { maxLength: 120 },
  )
  .map((log) => [...log].sort((a, b) => a.atMs - b.atMs))

test('a breaker of a key is loosened by nobody but an authorizer', () => {
  const policy = (breakers: readonly object[]) => policyOf({ default: 'allow', breakers })
  const [few, spending] = [
    { kind: 'refusals', count: 5, per_seconds: 60 },
    { kind: 'spend_factor', factor: 5, per_seconds: 60 },
  ]
  const before = policy([few])
  expect(policyEnlarges(before, policy([spending, few]))).toBe(false)
  for (const looser of [[], [{ ...few, count: 6 }], [{ ...few, per_seconds: 30 }], [spending]]) {
    expect(policyEnlarges(before, policy(looser))).toBe(true)
  }
})

test('what is counted apart and what is counted in one comes to the same trips, within bounds', () => {
  fc.assert(
    fc.property(BREAKERS, LOG, (breakers, log) => {
      // As the actor has it: refusals in memory, signed calls in the ledger, both begun again by a trip.
      const tallies = new Map<Watched['type'], BreakerTally>()
      const trips = []
      for (const seen of log) {
        const { tally, trip } = watch(breakers, tallies.get(seen.type) ?? NO_TALLY, seen)
        tallies.set(seen.type, tally)
        for (const { buckets } of tally) expect(buckets.length).toBeLessThanOrEqual(BUCKETS + 2)
        expect(tally.length).toBeLessThanOrEqual(breakers.length)
        if (trip === null) continue
        tallies.clear()
        trips.push(trip)
      }
      expect(replayBreakers(breakers, log)).toEqual(trips)
    }),
    { numRuns: 300 },
  )
})

test('a breaker of counts trips exactly when a plain count does, but for 1/64 of its time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 6 }),
      fc.integer({ min: 2, max: 64 }),
      LOG,
      (count, perSeconds, log) => {
        const times = log.filter(({ type }) => type === 'refused').map(({ atMs }) => atMs)
        const [first] = replayBreakers([refusals(count, perSeconds)], log)
        const plain = (spanMs: number) =>
          times.find(
            (at, i) => times.slice(0, i + 1).filter((one) => one > at - spanMs).length >= count,
          )
        const spanMs = perSeconds * SECOND_MS
        const longest = plain(spanMs * (1 + 1 / BUCKETS))
        if (first !== undefined) expect(first.atMs).toBeGreaterThanOrEqual(longest ?? Number.NaN)
        const exact = plain(spanMs)
        if (exact !== undefined) expect(first?.atMs).toBeLessThanOrEqual(exact)
      },
    ),
    { numRuns: 300 },
  )
})
