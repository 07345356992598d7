import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DAMAGED,
  opened,
  PRESENT,
  packedRecord,
  placeOf,
  seal,
} from '../../src/store/encodings/sealing.js'

const SPACE = 8
const PLACE = placeOf(SPACE, ['usr_1', 7])

function sealed(value: unknown): Buffer {
  return Buffer.from(seal(packedRecord(value), PLACE))
}

function read(bytes: Buffer, place = PLACE): unknown {
  return opened(bytes, bytes.length, place)
}

describe('a sealed record', () => {
  test('comes back as it was put', () => {
    const value = fc.array(fc.oneof(fc.string(), fc.bigInt(), fc.integer(), fc.uint8Array()))
    fc.assert(
      fc.property(value, (list) => {
        const found = read(sealed(list)) as unknown[]
        expect(found.map((one) => (Buffer.isBuffer(one) ? Uint8Array.from(one) : one))).toEqual(
          list,
        )
      }),
    )
  })

  test('with any bit of it flipped is damaged, and never another value', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 2 }), fc.nat(), (record, at) => {
        const bytes = sealed(record)
        const bit = at % (bytes.length * 8)
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(read(bytes)).toBe(DAMAGED)
      }),
      { numRuns: 1_000 },
    )
  })

  test('with any stretch of it overwritten is damaged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), (noise, at) => {
        const bytes = sealed({ amount: 7n, to: 'somebody', memo: 'x'.repeat(300) })
        const before = Buffer.from(bytes)
        bytes.set(noise.subarray(0, bytes.length), at % (bytes.length - noise.length))
        expect(bytes.equals(before) || read(bytes) === DAMAGED).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('cut short is damaged', () => {
    const bytes = sealed({ amount: 7n, to: 'somebody' })
    for (let length = 0; length < bytes.length; length++) {
      expect(opened(bytes, length, PLACE)).toBe(DAMAGED)
    }
  })

  test('is damaged under any other key, and in any other space', () => {
    const bytes = sealed({ amount: 7n })
    const key = fc.oneof(fc.string(), fc.integer(), fc.array(fc.oneof(fc.string(), fc.nat())))
    fc.assert(fc.property(key, (other) => read(bytes, placeOf(SPACE, other)) === DAMAGED))
    expect(read(bytes, placeOf(SPACE + 1, ['usr_1', 7]))).toBe(DAMAGED)
    expect(read(bytes, placeOf(SPACE, ['usr_1', 7 + 2 ** 32]))).toBe(DAMAGED)
    expect(read(bytes, placeOf(SPACE, ['usr_1']))).toBe(DAMAGED)
  })

  test('of an index is read as what it is', () => {
    expect(read(seal(PRESENT, PLACE))).toBe(1)
  })
})

describe('places of keys', () => {
  test('differ by any bit of the key', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(), (key, at) => {
        const index = at % key.length
        const flipped = String.fromCharCode(key.charCodeAt(index) ^ (1 << (at % 7)))
        const other = key.slice(0, index) + flipped + key.slice(index + 1)
        expect(placeOf(SPACE, [other, 'x'])).not.toBe(placeOf(SPACE, [key, 'x']))
      }),
      { numRuns: 1_000 },
    )
  })
})
