import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Buffer as BrowserBuffer } from '../../src/console/audit/verify/in-browser/buffer.js'
import {
  createPublicKey,
  hash,
  verify,
} from '../../src/console/audit/verify/in-browser/node-crypto.js'
import { verifyByWebCrypto } from '../../src/console/audit/verify/web-crypto.js'
import { publicKeyFromRaw, rawPublicKey, verifyP256 } from '../../src/quorum-protocol/p256.js'

const BYTES = Uint8Array.from({ length: 300 }, (_, at) => (at * 7) % 256)
// The class has the subset of Node's methods that the verification uses.
const Browser = BrowserBuffer as unknown as typeof Buffer

describe('what stands for Buffer in a browser', () => {
  test('reads and writes text as Node does', () => {
    for (const encoding of ['hex', 'latin1', 'base64url'] as const) {
      expect(Browser.from(BYTES).toString(encoding)).toBe(Buffer.from(BYTES).toString(encoding))
    }
    for (const text of ['', 'ab', 'añ€😀', '\ufeffbom', '\ud800']) {
      expect([...Browser.from(text, 'utf8')]).toEqual([...Buffer.from(text, 'utf8')])
      const bytes = Buffer.from(text, 'utf8')
      expect(Browser.from(bytes).toString()).toBe(bytes.toString())
    }
    for (const hex of ['', '00ff', 'abc', 'zz', '01zz02']) {
      expect([...Browser.from(hex, 'hex')]).toEqual([...Buffer.from(hex, 'hex')])
    }
    expect([...Browser.from('\u00ff\u0100a', 'latin1')]).toEqual([
      ...Buffer.from('\u00ff\u0100a', 'latin1'),
    ])
  })

  test('writes integers and hex in place, and refuses what does not fit', () => {
    const written = (one: typeof Buffer) => {
      const out = one.alloc(40)
      const said = [
        ...[out.writeUInt8(200, 1), out.writeUInt16BE(65_000, 3), out.writeUInt32BE(4e9, 6)],
        out.writeBigUInt64BE(2n ** 63n + 5n, 12),
        ...[out.write('aabbcc', 'hex'), out.write('0102030405', 24, 3, 'hex')],
      ]
      return [said, [...out], out.subarray(1, 5).toString('hex')]
    }
    expect(written(Browser)).toEqual(written(Buffer))
    for (const one of [Browser, Buffer]) {
      expect(() => one.alloc(4).writeUInt8(256, 0)).toThrow(RangeError)
      expect(() => one.alloc(4).writeUInt32BE(-1, 0)).toThrow(RangeError)
      expect(() => one.alloc(4).writeUInt32BE(1, 1)).toThrow(RangeError)
    }
  })

  test('joins, compares, copies, and shares memory with what it views', () => {
    const [a, b, c] = [Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0), Uint8Array.of(255)]
    for (const [one, other] of [
      ...[[a, b] as const, [b, a] as const, [a, a] as const, [c, b] as const],
    ]) {
      expect(Browser.compare(one, other)).toBe(Buffer.compare(one, other))
    }
    expect([...Browser.concat([a, c, b])]).toEqual([...Buffer.concat([a, c, b])])
    const memory = BYTES.slice()
    const view = Browser.from(memory.buffer, 10, 5)
    memory[11] = 99
    expect([...view]).toEqual([...memory.subarray(10, 15)])
    const target = new Uint8Array(6)
    expect(Browser.from(BYTES).copy(target, 1, 3, 6)).toBe(3)
    expect([...target]).toEqual([0, ...BYTES.subarray(3, 6), 0, 0])
    expect(Browser.isBuffer(view.subarray(1))).toBe(true)
    expect(view.equals(memory.subarray(10, 15))).toBe(true)
    expect(view.equals(memory.subarray(11, 16))).toBe(false)
  })
})

describe('P-256 and SHA-256 in a browser', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const der = publicKey.export({ type: 'spki', format: 'der' })
  const signature = sign('sha256', BYTES, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const inScript = (message: Uint8Array, signed: Uint8Array) =>
    verify('sha256', message, { key: createPublicKey({ key: der }) }, signed)

  test('both say what OpenSSL says, of a signature and of one that was changed', async () => {
    const key = publicKeyFromRaw(rawPublicKey(publicKey))
    const changed = [0, 31, 32, 63].map((at) => {
      const out = Buffer.from(signature)
      out[at] = (out[at] ?? 0) ^ 1
      return out
    })
    const cases = [signature, ...changed, signature.subarray(1), Buffer.alloc(64)]
    for (const one of cases) {
      const due = verifyP256(key, BYTES, one)
      expect(inScript(BYTES, one)).toBe(due)
      expect(await verifyByWebCrypto(key, BYTES, one)).toBe(due)
    }
    expect(inScript(BYTES.subarray(1), signature)).toBe(false)
    expect(await verifyByWebCrypto(key, BYTES.subarray(1), signature)).toBe(false)
    expect(inScript(BYTES, signature)).toBe(true)
  })

  test('a signature counts whether its s is high or low, as the co-signers make them', () => {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const s = BigInt(`0x${signature.subarray(32).toString('hex')}`)
    const other = (order - s).toString(16).padStart(64, '0')
    expect(
      inScript(BYTES, Buffer.concat([signature.subarray(0, 32), Buffer.from(other, 'hex')])),
    ).toBe(true)
  })

  test('a key that is no point is refused, and a hash is the same', () => {
    const wrong = Buffer.from(der)
    wrong[90] = (wrong[90] ?? 0) ^ 1
    expect(() => createPublicKey({ key: wrong })).toThrow()
    expect(Buffer.from(hash('sha256', BYTES), 'latin1')).toEqual(
      createHash('sha256').update(BYTES).digest(),
    )
  })
})
