import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { expect, test } from 'vitest'
import {
  packedBehind,
  packedPairBehind,
  RECORD_ENCODER,
} from '../../src/store/encodings/message-pack.js'

const packr = new Packr(RECORD_ENCODER)

const text = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.nat(70_000).map((length) => 'x'.repeat(length)),
  fc.nat(400).map((length) => 'é'.repeat(length)),
)
const whole = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffffff, 2 ** 32, -1, -32, -33),
)
const large = fc.oneof(
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  fc.constantFrom(2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 64n, 0n),
)
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.nat(70_000).map((length) => Buffer.alloc(length, 7)),
)
const scalar = fc.oneof(
  ...[text, whole, fc.double(), large, bytes, fc.boolean()],
  fc.constantFrom(null, undefined, new Date(1_700_000_000_000), new Map([['a', 1n]])),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 40 }),
  object: fc.dictionary(fc.string({ maxLength: 12 }), tie('value'), { maxKeys: 20 }),
}))

test('records are the bytes that msgpackr makes, whatever is in them', () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(packedBehind(0, one).equals(packr.pack(one))).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a record that is long, or comes last in its block, is whole', () => {
  for (let length = 0; length < 2_000; length++) {
    const list = [length, 'a'.repeat(length), [Buffer.alloc(length, 1)], 2n ** 200n]
    expect(packedBehind(0, list).equals(packr.pack(list))).toBe(true)
  }
  const long = Array.from({ length: 70_000 }, (_, at) => at)
  expect(packr.unpack(packedBehind(0, long))).toEqual(long)
})

test('what was made before stays as it is, and room is left in front', () => {
  const made = Array.from({ length: 3_000 }, (_, at) => {
    const record = packedBehind(5, ['before', at])
    record.fill(0xff, 0, 5)
    return record
  })
  for (const [at, record] of made.entries()) {
    expect(packr.unpack(record.subarray(5))).toEqual(['before', at])
  }
})

test('a list of two takes over what is MessagePack already', () => {
  const second = packr.pack([{ list: 'ofac' }])
  expect(packedPairBehind(5, ['first', 1n], second).subarray(5)).toEqual(
    packr.pack([['first', 1n], [{ list: 'ofac' }]]),
  )
})
