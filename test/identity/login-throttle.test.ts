import { describe, expect, it } from 'vitest'
import { createLoginThrottle } from '../../src/identity-provider/login/login-throttle.js'

describe('login throttling', () => {
  it('lets a person in again when the window has passed, and forgets failures on success', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 8; i++) throttle.recordFailure('a@x', '192.0.2.1', 0)
    expect(throttle.waitMs('a@x', '192.0.2.1', 1_000)).toBe(899_000)
    expect(throttle.waitMs('a@x', '192.0.2.1', 900_000)).toBe(0)
    const other = createLoginThrottle()
    for (let i = 0; i < 7; i++) other.recordFailure('a@x', '192.0.2.1', 0)
    other.recordSuccess('a@x', '192.0.2.1')
    other.recordFailure('a@x', '192.0.2.1', 1)
    expect(other.waitMs('a@x', '192.0.2.1', 2)).toBe(0)
  })

  it('does not lock a person out because a stranger guesses from elsewhere', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 20; i++) throttle.recordFailure('a@x', '192.0.2.1', 0)
    expect(throttle.waitMs('a@x', '198.51.100.7', 1)).toBe(0)
  })

  it('stops one address that tries many accounts', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 60; i++) throttle.recordFailure(`${i}@x`, '192.0.2.1', 0)
    expect(throttle.waitMs('new@x', '192.0.2.1', 1)).toBeGreaterThan(0)
    expect(throttle.waitMs('new@x', '192.0.2.2', 1)).toBe(0)
  })

  it('counts failures only: a hundred successful sign-ins block nobody', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 100; i++) {
      throttle.recordFailure('a@x', '192.0.2.1', i)
      throttle.recordSuccess('a@x', '192.0.2.1')
    }
    expect(throttle.waitMs('a@x', '192.0.2.1', 101)).toBe(0)
  })
})
