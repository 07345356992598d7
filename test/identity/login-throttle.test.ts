import { describe, expect, it } from 'vitest'
import {
  createLoginThrottle,
  type LoginCaller,
} from '../../src/identity-provider/login/login-throttle.js'

function caller(accountKey: string, address: string, device: string | null = null): LoginCaller {
  return { accountKey, by: 'password', address, device }
}

describe('login throttling', () => {
  it('keeps nobody out of a browser in which they have signed in before', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 200; i++) throttle.recordFailure(caller('a@x', '192.0.2.1'), 0)
    expect(throttle.waitMs(caller('a@x', '192.0.2.1'), 1)).toBeGreaterThan(0)
    expect(throttle.waitMs(caller('a@x', '192.0.2.1', 'laptop'), 1)).toBe(0)
    for (let i = 0; i < 8; i++) throttle.recordFailure(caller('a@x', '192.0.2.1', 'laptop'), 0)
    expect(throttle.waitMs(caller('a@x', '192.0.2.1', 'laptop'), 1)).toBeGreaterThan(0)
  })

  it('lets a person in again when the window has passed, and forgets failures on success', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 8; i++) throttle.recordFailure(caller('a@x', '192.0.2.1'), 0)
    expect(throttle.waitMs(caller('a@x', '192.0.2.1'), 1_000)).toBe(899_000)
    expect(throttle.waitMs(caller('a@x', '192.0.2.1'), 900_000)).toBe(0)
    const other = createLoginThrottle()
    for (let i = 0; i < 7; i++) other.recordFailure(caller('a@x', '192.0.2.1'), 0)
    other.recordSuccess(caller('a@x', '192.0.2.1'))
    other.recordFailure(caller('a@x', '192.0.2.1'), 1)
    expect(other.waitMs(caller('a@x', '192.0.2.1'), 2)).toBe(0)
  })

  it('does not lock a person out because a stranger guesses from elsewhere', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 20; i++) throttle.recordFailure(caller('a@x', '192.0.2.1'), 0)
    expect(throttle.waitMs(caller('a@x', '198.51.100.7'), 1)).toBe(0)
  })

  it('lets strangers everywhere keep nobody from signing in by a passkey', () => {
    const throttle = createLoginThrottle()
    const by = (address: string) =>
      ({ ...caller('passkey user_a', address), by: 'passkey' }) as const
    for (let i = 0; i < 200; i++) throttle.recordFailure(by(`192.0.2.${i % 50}`), 0)
    expect(throttle.waitMs(by('198.51.100.7'), 1)).toBe(0)
    for (let i = 0; i < 8; i++) throttle.recordFailure(by('192.0.2.60'), 0)
    expect(throttle.waitMs(by('192.0.2.60'), 1)).toBeGreaterThan(0)
    // A password is guessed, from wherever.
    for (let i = 0; i < 200; i++) throttle.recordFailure(caller('a@x', `192.0.2.${i % 50}`), 0)
    expect(throttle.waitMs(caller('a@x', '198.51.100.7'), 1)).toBeGreaterThan(0)
  })

  it('stops one address that tries many accounts', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 60; i++) throttle.recordFailure(caller(`${i}@x`, '192.0.2.1'), 0)
    expect(throttle.waitMs(caller('new@x', '192.0.2.1'), 1)).toBeGreaterThan(0)
    expect(throttle.waitMs(caller('new@x', '192.0.2.2'), 1)).toBe(0)
  })

  it('counts failures only: a hundred successful sign-ins block nobody', () => {
    const throttle = createLoginThrottle()
    for (let i = 0; i < 100; i++) {
      throttle.recordFailure(caller('a@x', '192.0.2.1'), i)
      throttle.recordSuccess(caller('a@x', '192.0.2.1'))
    }
    expect(throttle.waitMs(caller('a@x', '192.0.2.1'), 101)).toBe(0)
  })
})
