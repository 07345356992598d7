import { describe, expect, it } from 'vitest'
import { RETRY_DELAYS_MS, retryAtMs } from '../../actors/webhook-endpoint/core/retry-schedule.js'

describe('the retry schedule', () => {
  it('follows the documented delays to within a tenth, then ends', () => {
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      expect(retryAtMs(index + 1, 0, 0)).toBe(delayMs * 0.9)
      expect(retryAtMs(index + 1, 0, 0.5)).toBe(delayMs)
      expect(retryAtMs(index + 1, 0, 0.999_999)).toBeLessThanOrEqual(delayMs * 1.1)
    }
    expect(retryAtMs(RETRY_DELAYS_MS.length + 1, 0, 0.5)).toBeNull()
  })
})
