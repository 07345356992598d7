import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ulidBody, ulidBytes, ulidOfBytes } from '../../src/domain/ids.js'

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
const CHARACTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

test('the bytes of an id give its body back, whatever its prefix', () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom('', 'sw_', 'key_'), (one, prefix) => {
      const body = ulidOfBytes(one)
      expect(body).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      expect(ulidBytes(prefix + body)).toEqual(one)
    }),
  )
})

test('an id with a character that no ULID has, or of another length, has no bytes', () => {
  const body = ulidBody(1_700_000_000_000, new Uint8Array(10).fill(0xa5))
  const elsewhere = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
  fc.assert(
    fc.property(fc.nat(25), elsewhere, (at, character) => {
      fc.pre(!CHARACTERS.includes(character) && character !== '_')
      const spoilt = `sw_${body.slice(0, at)}${character}${body.slice(at + 1)}`
      expect(() => ulidBytes(spoilt)).toThrow(RangeError)
    }),
  )
  // More than 128 bits.
  expect(() => ulidBytes(`sw_8${body.slice(1)}`)).toThrow(RangeError)
  for (const length of [0, 25, 27]) {
    expect(() => ulidBytes(`sw_${`${body}0`.slice(0, length)}`)).toThrow(RangeError)
  }
})
