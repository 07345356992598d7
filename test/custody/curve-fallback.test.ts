import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import type * as Secp256k1 from 'secp256k1'
import { describe, expect, it } from 'vitest'
import { fallbackCurve } from '../../src/quorum-protocol/curve-fallback.js'

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1

describe('the JavaScript curve of development', () => {
  it('gives bit for bit what the native binding gives', () => {
    for (let round = 0; round < 50; round++) {
      const digest = randomBytes(32)
      const a = randomBytes(32)
      const b = randomBytes(32)
      const mine = fallbackCurve.ecdsaSign(digest, a, {}, Buffer.alloc(64))
      const theirs = native.ecdsaSign(digest, a)
      expect(Buffer.from(mine.signature)).toEqual(Buffer.from(theirs.signature))
      expect(mine.recid).toBe(theirs.recid)

      const point = native.publicKeyCreate(a)
      const other = native.publicKeyCreate(b)
      expect(fallbackCurve.publicKeyCreate(a, true, Buffer.alloc(33))).toEqual(Buffer.from(point))
      expect(fallbackCurve.publicKeyCombine([point, other], true, Buffer.alloc(33))).toEqual(
        Buffer.from(native.publicKeyCombine([point, other])),
      )
      expect(fallbackCurve.publicKeyConvert(point, false, Buffer.alloc(65))).toEqual(
        Buffer.from(native.publicKeyConvert(point, false)),
      )
      expect(
        fallbackCurve.ecdsaRecover(mine.signature, mine.recid, digest, true, Buffer.alloc(33)),
      ).toEqual(Buffer.from(point))
      expect(fallbackCurve.privateKeyTweakAdd(Buffer.from(a), b)).toEqual(
        Buffer.from(native.privateKeyTweakAdd(Buffer.from(a), b)),
      )
    }
  })
})
