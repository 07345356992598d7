import { describe, expect, it } from 'vitest'
import {
  RETRY_AFTER_MS_MAX,
  RETRY_DELAYS_MS,
  retryAtMs,
} from '../../actors/webhook-endpoint/core/retry-schedule.js'
import { readRetryAfterMs } from '../../src/webhooks/retry-after.js'

describe('the retry schedule', () => {
  it('follows the documented delays to within a tenth, then ends', () => {
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      expect(retryAtMs(index + 1, 0, 0)).toBe(delayMs * 0.9)
      expect(retryAtMs(index + 1, 0, 0.5)).toBe(delayMs)
      expect(retryAtMs(index + 1, 0, 0.999_999)).toBeLessThanOrEqual(delayMs * 1.1)
    }
    expect(retryAtMs(RETRY_DELAYS_MS.length + 1, 0, 0.5)).toBeNull()
  })

  it('is put off by what a receiver asks for, and never brought forward', () => {
    expect(retryAtMs(1, 1_000, 0.5, 600_000)).toBeGreaterThanOrEqual(601_000)
    expect(retryAtMs(1, 1_000, 0.999, 600_000)).toBeLessThanOrEqual(601_000 + 60_000)
    for (const asked of [0, 1, 4_000]) expect(retryAtMs(1, 1_000, 0.5, asked)).toBe(6_000)
  })

  it('is put off for a day at most, and ends all the same', () => {
    for (const asked of [RETRY_AFTER_MS_MAX, RETRY_AFTER_MS_MAX * 400, Number.MAX_VALUE]) {
      expect(retryAtMs(1, 0, 0, asked)).toBe(RETRY_AFTER_MS_MAX)
    }
    expect(retryAtMs(RETRY_DELAYS_MS.length + 1, 0, 0.5, 60_000)).toBeNull()
  })
})

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-11-28T22:00:00Z')

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['9999999999', 9_999_999_999_000],
    ['Sat, 28 Nov 2026 22:01:00 GMT', 60_000],
    ['Saturday, 28-Nov-26 22:01:00 GMT', 60_000],
    ['Sat Nov 28 22:01:00 2026', 60_000],
    ['Sat, 28 Nov 2026 21:00:00 GMT', 0],
  ])('%j is read', (header, ms) => {
    expect(readRetryAfterMs(header, nowMs)).toBe(ms)
  })

  it.each([null, '', 'soon', '-5', '1.5', '1e9', '2026-11-29', 'Sat, 99 Xxx 2026 22:01:00 GMT'])(
    '%j asks for nothing',
    (header) => {
      expect(readRetryAfterMs(header, nowMs)).toBeNull()
    },
  )
})
