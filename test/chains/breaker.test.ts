import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBreaker, FAILURES_TO_OPEN } from '../../src/chains/rpc/breaker.js'

function opened(atMs: number) {
  const breaker = createBreaker()
  for (let i = 0; i < FAILURES_TO_OPEN; i++) breaker.fail(atMs)
  return breaker
}

test('opens after a run of failures, and a success in between starts the run again', () => {
  const breaker = createBreaker()
  for (let i = 1; i < FAILURES_TO_OPEN; i++) expect(breaker.fail(0)).toBe(false)
  expect(breaker.succeed()).toBe(false)
  for (let i = 1; i < FAILURES_TO_OPEN; i++) expect(breaker.fail(0)).toBe(false)
  expect(breaker.state(0)).toBe('closed')
  expect(breaker.fail(0)).toBe(true)
  expect(breaker.state(0)).toBe('open')
})

test('a failed probe doubles the pause, late failures of older requests do not', () => {
  const breaker = opened(0)
  breaker.fail(499)
  expect(breaker.state(500)).toBe('half-open')
  breaker.fail(500)
  expect(breaker.state(1_499)).toBe('open')
  expect(breaker.state(1_500)).toBe('half-open')
  expect(breaker.succeed()).toBe(true)
  expect(breaker.state(1_500)).toBe('closed')
})

test('however long it fails, it is probed again within fifteen seconds', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 100 }), (steps) => {
      const breaker = opened(0)
      let nowMs = 0
      for (const step of steps) {
        nowMs += step
        breaker.fail(nowMs)
      }
      expect(breaker.state(nowMs + 15_000)).toBe('half-open')
    }),
  )
})
