import { expect, test } from 'vitest'
import { addInto, pointOf, randomScalar } from '../../src/quorum-protocol/curve.js'
import { KnownKeys } from '../../src/quorum-signer/known-keys.js'

const ONE = Buffer.concat([Buffer.alloc(31), Buffer.from([1])])

function following(key: Uint8Array): Buffer {
  const next = Buffer.from(key)
  addInto(next, ONE)
  return next
}

test('a key makes its own point only, whether or not the point was asked about before', () => {
  const known = new KnownKeys()
  const keys = Array.from({ length: 8 }, randomScalar)
  for (const round of ['first', 'again']) {
    for (const key of keys) {
      const point = pointOf(key)
      expect(known.makes(following(key), point), round).toBe(false)
      expect(known.makes(key, point), round).toBe(true)
      expect(known.makes(following(key), point), round).toBe(false)
      expect(known.makes(key, pointOf(following(key))), round).toBe(false)
    }
  }
})

test('a key that was refused for a point does not become known for it', () => {
  const known = new KnownKeys()
  const key = randomScalar()
  const other = randomScalar()
  expect(known.makes(other, pointOf(key))).toBe(false)
  expect(known.makes(other, pointOf(key))).toBe(false)
  expect(known.makes(other, pointOf(other))).toBe(true)
})
