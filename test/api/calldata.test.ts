import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calldata } from '../../src/api/primitives.js'
import { isHexBytes } from '../../src/domain/hex-bytes.js'

const WHOLE_BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

describe('calldata', () => {
  it('is taken for whole bytes of hex exactly when the published pattern says so', () => {
    const near = fc
      .array(fc.constantFrom('0', '9', 'a', 'F', 'x', 'g', '\u0130', '\ud800', '\u0161'))
      .map((characters) => `0x${characters.join('')}`)
    const texts = fc.oneof(near, fc.string())
    fc.assert(
      fc.property(texts, (text) => {
        expect(isHexBytes(text)).toBe(WHOLE_BYTES.test(text))
      }),
      { numRuns: 2_000 },
    )
    for (const text of ['', '0', '0x', '0X00', '0x0', '0x00', '0x0g', '0x\u013030', ' 0x00']) {
      expect(isHexBytes(text), text).toBe(WHOLE_BYTES.test(text))
    }
  })

  it('is looked at whole: any character anywhere in a long one', () => {
    for (const length of [16_386, 16_384, 16_390, 40_000, 262_144]) {
      const good = `0x${'0aF9'.repeat(length / 4 + 1).slice(0, length)}`
      expect(isHexBytes(good)).toBe(true)
      for (const at of [0, 1, 2, 3, 16_383, 16_384, length - 2, length - 1]) {
        for (const bad of ['g', '/', ':', '@', 'G', '`', '\u0000', '\u00e1', '\u0161', '\ud800']) {
          expect(isHexBytes(`${good.slice(0, 2 + at)}${bad}${good.slice(3 + at)}`)).toBe(false)
        }
      }
    }
    for (let code = 0; code < 0x1_0000; code++) {
      const text = `0x0${String.fromCharCode(code)}`
      if (isHexBytes(text) !== WHOLE_BYTES.test(text)) expect.fail(`character ${code}`)
    }
  })

  it('says in one message what is wrong with it', () => {
    expect(calldata.safeParse('0x123').error?.issues.map(({ message }) => message)).toEqual([
      'must be 0x and an even number of hex digits',
    ])
  })
})
