import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createRateLimiter,
  KEY_POLICY,
  type RateLimitPolicy,
  rateLimitHeader,
  rateLimitPolicyHeader,
  takeTokens,
  tokensOfBody,
} from '../../src/auth/rate-limit.js'

const POLICY: RateLimitPolicy = { name: 'key', refillPerSecond: 2, burst: 3 }

function limiterAt(nowMs: { value: number }, partitionsMax = 100) {
  return createRateLimiter({ policy: POLICY, nowMs: () => nowMs.value, partitionsMax })
}

describe('a token bucket', () => {
  test('lets a burst pass, then one request per refill', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now)
    expect([1, 2, 3, 4].map(() => limiter.take('a').allowed)).toEqual([true, true, true, false])
    now.value = 499
    expect(limiter.take('a').allowed).toBe(false)
    now.value = 500
    expect(limiter.take('a').allowed).toBe(true)
    expect(limiter.take('a').allowed).toBe(false)
  })

  test('owes what was had before it was known, as much as it holds and no more', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now)
    limiter.take('a')
    limiter.charge('a', 4)
    expect(limiter.take('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 2 })
    now.value = 1_499
    expect(limiter.take('a').allowed).toBe(false)
    now.value = 1_500
    expect(limiter.take('a').allowed).toBe(true)
    limiter.charge('a', 1_000)
    now.value = 1_500 + 1_999
    expect(limiter.take('a').allowed).toBe(false)
    now.value = 1_500 + 2_000
    expect(limiter.take('a').allowed).toBe(true)
    limiter.charge('unseen', 1_000)
    expect(limiter.take('unseen').allowed).toBe(true)
  })

  test('that is empty and in use outlives one that is not, where there is no room for both', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now, 2)
    for (let i = 0; i < POLICY.burst; i++) limiter.take('used')
    limiter.take('idle')
    now.value = 1_000
    expect([1, 2].map(() => limiter.take('used').allowed)).toEqual([true, true])
    limiter.take('new')
    expect(limiter.take('used').allowed).toBe(false)
  })

  test('says when to come back, and then keeps its word', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now)
    for (let i = 0; i < 3; i++) limiter.take('a')
    const { retryAfterSeconds } = limiter.take('a')
    expect(retryAfterSeconds).toBe(1)
    now.value = retryAfterSeconds * 1_000
    expect(limiter.take('a').allowed).toBe(true)
  })

  test('takes as many tokens as a request costs, or none, and never more than it can hold', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now)
    expect(limiter.take('a', 2).allowed).toBe(true)
    const refused = limiter.take('a', 2)
    expect(refused).toMatchObject({ allowed: false, remaining: 1, retryAfterSeconds: 1 })
    expect(limiter.take('a').allowed).toBe(true)
    expect(limiter.take('b', 50).allowed).toBe(true)
    expect(limiter.take('b').allowed).toBe(false)
  })

  test('counts a body by its length', () => {
    expect([0, 300, 4_095, 4_096, 262_144].map(tokensOfBody)).toEqual([0, 0, 0, 1, 64])
  })

  test('keeps partitions apart', () => {
    const limiter = limiterAt({ value: 0 })
    for (let i = 0; i < 4; i++) limiter.take('a')
    expect(limiter.take('b').allowed).toBe(true)
  })

  test('never holds more than a burst, however long it rests', () => {
    const now = { value: 0 }
    const limiter = limiterAt(now)
    limiter.take('a')
    now.value = 86_400_000
    expect(limiter.take('a').remaining).toBe(2)
  })

  test('a clock that steps back refills nothing, and nothing twice', () => {
    const now = { value: 10_000 }
    const limiter = limiterAt(now)
    for (let i = 0; i < 3; i++) limiter.take('a')
    now.value = 0
    expect(limiter.take('a').allowed).toBe(false)
    now.value = 10_000
    expect(limiter.take('a').allowed).toBe(false)
  })

  test('property: over any span no more pass than the burst and the refill of the span', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(steps, (gapsMs) => {
        const bucket = { tokens: POLICY.burst, updatedAtMs: 0 }
        let nowMs = 0
        let passed = 0
        for (const gapMs of gapsMs) {
          nowMs += gapMs
          if (takeTokens(bucket, POLICY, nowMs, 1).allowed) passed++
        }
        expect(passed).toBeLessThanOrEqual(
          POLICY.burst + (nowMs * POLICY.refillPerSecond) / 1_000 + 1e-6,
        )
      }),
    )
  })

  test('forgets the least recently used partition at its bound', () => {
    const limiter = limiterAt({ value: 0 }, 2)
    for (let i = 0; i < 4; i++) limiter.take('a')
    limiter.take('b')
    limiter.take('c')
    expect(limiter.take('a').allowed).toBe(true)
  })
})

describe('headers', () => {
  test('name quota and window, remaining and reset', () => {
    const limiter = createRateLimiter({ policy: KEY_POLICY, nowMs: () => 0 })
    expect(rateLimitPolicyHeader(KEY_POLICY)).toBe('"key";q=1000;w=5')
    expect(rateLimitHeader(limiter.take('a'))).toBe('"key";r=999;t=1')
  })
})
