import { describe, expect, test } from 'vitest'
import { createOwnedCache } from '../../src/custody/authorizers/owned-cache.js'

const LIFE_MS = 60_000
const SHORT_LIFE_MS = 20

describe('what users leave open', () => {
  test('is bounded for each of them: one that is full pushes nobody else’s out', () => {
    const cache = createOwnedCache<object>({ max: 100, perUserMax: 3 })
    expect(cache.add('ada', 'ada', { of: 'ada' }, LIFE_MS)).toBeNull()
    const kept = Array.from({ length: 500 }, (_, index) =>
      cache.add(`mallory-${index}`, 'mallory', {}, LIFE_MS),
    ).filter((fullForMs) => fullForMs === null)
    expect(kept).toHaveLength(3)
    expect(cache.get('ada')).toEqual({ of: 'ada' })
    expect(cache.get('mallory-3')).toBeUndefined()
  })

  test('makes room when one is taken out or ends, and says when that is', async () => {
    const cache = createOwnedCache<object>({ max: 100, perUserMax: 2 })
    cache.add('a', 'ada', {}, LIFE_MS)
    cache.add('b', 'ada', {}, 5 * LIFE_MS)
    const fullForMs = cache.add('c', 'ada', {}, LIFE_MS)
    expect(fullForMs).toBeGreaterThan(0)
    expect(fullForMs).toBeLessThanOrEqual(LIFE_MS)
    cache.delete('b')
    expect(cache.add('c', 'ada', {}, SHORT_LIFE_MS)).toBeNull()
    await expect.poll(() => cache.add('d', 'ada', {}, LIFE_MS)).toBeNull()
    expect(cache.get('c')).toBeUndefined()
  })

  test('is bounded for all together: past that the oldest is given up, and its user has room', () => {
    const cache = createOwnedCache<object>({ max: 4, perUserMax: 2 })
    for (const user of ['ada', 'grace', 'mary']) {
      cache.add(`${user}-1`, user, {}, LIFE_MS)
      cache.add(`${user}-2`, user, {}, LIFE_MS)
    }
    expect(cache.get('ada-1')).toBeUndefined()
    expect(cache.add('ada-3', 'ada', {}, LIFE_MS)).toBeNull()
  })
})
