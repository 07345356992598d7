import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createLiveIntents } from '../../src/identity-provider/vault/live-intents.js'

const MINUTE_MS = 60_000
const LIFE_MS = 3 * MINUTE_MS
const START_MS = 1_800_000_000_000

function idOf(number: number): Buffer {
  return createHash('sha256').update(String(number)).digest()
}

test('an id is known from when it was remembered on, and no other is', () => {
  const live = createLiveIntents()
  expect(live.has(idOf(1))).toBe(false)
  for (let n = 0; n < 20_000; n += 10) {
    const ids = Array.from({ length: 10 }, (_, i) => idOf(n + i))
    live.remember(ids, START_MS + LIFE_MS, START_MS)
  }
  for (let n = 0; n < 20_000; n++) expect(live.has(idOf(n))).toBe(true)
  for (let n = 20_000; n < 40_000; n++) expect(live.has(idOf(n))).toBe(false)
})

test('ids that differ in their last byte alone are told apart', () => {
  const live = createLiveIntents()
  const id = idOf(1)
  const other = Buffer.from(id)
  other[31] = (other[31] ?? 0) ^ 1
  live.remember([id], START_MS + LIFE_MS, START_MS)
  expect(live.has(id)).toBe(true)
  expect(live.has(other)).toBe(false)
})

test('each is known until it expires, and is forgotten within some minutes of that', () => {
  const live = createLiveIntents()
  const expiries: number[] = []
  const steps = 600
  for (let step = 0; step < steps; step++) {
    const nowMs = START_MS + step * 2_000
    const life = 1 + ((step * 7_919) % LIFE_MS)
    expiries.push(nowMs + life)
    live.remember([idOf(step)], nowMs + life, nowMs)
    for (let n = 0; n <= step; n++) {
      const expiresAtMs = expiries[n] ?? 0
      if (expiresAtMs >= nowMs) expect(live.has(idOf(n))).toBe(true)
      else if (expiresAtMs + LIFE_MS + 2 * MINUTE_MS < nowMs) expect(live.has(idOf(n))).toBe(false)
    }
  }
})

test('a clock that is set back makes it forget nothing that has not expired', () => {
  const live = createLiveIntents()
  live.remember([idOf(1)], START_MS + LIFE_MS, START_MS)
  live.remember([idOf(2)], START_MS + LIFE_MS - 10 * MINUTE_MS, START_MS - 10 * MINUTE_MS)
  expect([idOf(1), idOf(2)].map(live.has)).toEqual([true, true])
  live.remember([idOf(3)], START_MS + LIFE_MS, START_MS + 1)
  expect([idOf(1), idOf(3)].map(live.has)).toEqual([true, true])
})

test('what is no id is refused', () => {
  expect(() => createLiveIntents().remember([Buffer.alloc(31)], START_MS, START_MS)).toThrow(
    RangeError,
  )
})
