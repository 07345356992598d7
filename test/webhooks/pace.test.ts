import { expect, test } from 'vitest'
import { createDeliveryPace } from '../../actors/webhook-endpoint/pace.js'
import type { UserId } from '../../src/domain/ids.js'

const BUSY = 'busy' as UserId
const OTHER = 'other' as UserId

test('a user gets no more attempts a second than the rate, and a burst of half a second', () => {
  let now = 0
  const pace = createDeliveryPace(100, { elapsed: () => now })
  const startsMs = Array.from({ length: 500 }, () => pace.next(BUSY))
  expect(startsMs.filter((at) => at === 0).length).toBe(51)
  for (let second = 1; second < 4; second++) {
    const within = startsMs.filter((at) => at > second * 1_000 && at <= (second + 1) * 1_000)
    expect(within).toHaveLength(100)
  }
  now = 60_000
  expect(pace.next(BUSY)).toBe(0)
})

test('what one user has waiting delays no other', () => {
  const pace = createDeliveryPace(10, { elapsed: () => 0 })
  for (let n = 0; n < 1_000; n++) pace.next(BUSY)
  expect(pace.next(BUSY)).toBeGreaterThan(90_000)
  expect(pace.next(OTHER)).toBe(0)
})

test('whoever stays below the rate never waits', () => {
  let now = 0
  const pace = createDeliveryPace(10, { elapsed: () => now })
  for (let n = 0; n < 1_000; n++) {
    expect(pace.next(BUSY)).toBe(0)
    now += 100
  }
})
