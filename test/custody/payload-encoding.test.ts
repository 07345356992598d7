import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { type Hex, serializeTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { entryOf } from '../../src/identity-provider/vault/nonce-ledger.js'
import { hmacSha256 } from '../../src/quorum-protocol/hmac.js'
import { PAYLOAD_BYTES_MAX } from '../../src/quorum-protocol/limits.js'
import { encodeRlp } from '../../src/quorum-protocol/rlp-encode.js'
import type { TransactionPayload } from '../../src/quorum-protocol/sign-payload.js'
import {
  decodeTransaction,
  encodeTransaction,
  signedTransaction,
  toHex,
} from '../../src/quorum-protocol/transaction.js'

const hexOf = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => toHex(bytes))

/** Around the lengths at which the prefix of a string or of the list grows. */
const data = fc.oneof(hexOf(0, 4), hexOf(53, 58), hexOf(200, 300), hexOf(65_530, 65_540))
const wei = (bits: bigint) =>
  fc.oneof(fc.bigInt({ min: 0n, max: 256n }), fc.bigInt({ min: 0n, max: 2n ** bits - 1n }))

const transaction = fc.record({
  chainId: fc.constantFrom(1, 10, 56, 137, 8453, 42161),
  nonce: fc.oneof(fc.nat(300), fc.maxSafeNat()),
  maxPriorityFeePerGas: wei(90n),
  gasLimit: wei(64n),
  to: hexOf(20),
  value: wei(256n),
  data,
})
/** Leading zeros of r and s are not in the encoding. */
const scalar = fc
  .tuple(fc.constantFrom(0, 1, 8), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([zeros, bytes]) => bytes.fill(0, 0, zeros).fill(1, 31))

describe('the proof of a key', () => {
  test('is HMAC-SHA256 as Node makes it, for keys and messages of any length up to a block', () => {
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
    fc.assert(
      fc.property(bytes(64), bytes(400), (key, message) => {
        const made = hmacSha256(key, message.length, (room, at) => room.set(message, at))
        expect(made).toEqual(createHmac('sha256', key).update(message).digest())
      }),
    )
    expect(() => hmacSha256(new Uint8Array(65), 0, () => {})).toThrow(RangeError)
  })
})

describe('a transaction of the protocol', () => {
  test('has the bytes that viem makes of it, unsigned and signed, and reads back', () => {
    fc.assert(
      fc.property(transaction, scalar, scalar, fc.nat(1), (fields, r, s, yParity) => {
        const maxFeePerGas = fields.maxPriorityFeePerGas + 1n
        const unsigned = encodeTransaction({ type: 'transaction', ...fields, maxFeePerGas })
        const reference = {
          ...fields,
          type: 'eip1559' as const,
          maxFeePerGas,
          gas: fields.gasLimit,
        }
        expect(toHex(unsigned)).toBe(serializeTransaction(reference))
        expect(decodeTransaction(unsigned)).toMatchObject({
          nonce: fields.nonce,
          value: fields.value,
          gasLimit: fields.gasLimit,
          maxFeePerGasWei: maxFeePerGas,
        })
        const signed = signedTransaction(unsigned, Buffer.concat([r, s, Buffer.of(yParity)]))
        const signature = { r: toHex(r), s: toHex(s), yParity }
        expect(signed.rawTransaction).toBe(serializeTransaction(reference, signature))
      }),
      { numRuns: 100 },
    )
  })
})

describe('the encoding of a payload', () => {
  test.each([
    ['half a byte', '0x123'],
    ['other digits than hex', '0x12zz'],
    ['more than any payload holds', Buffer.alloc(PAYLOAD_BYTES_MAX + 129)],
    ['an integer below zero', -1],
    ['an integer that is not exact', 2 ** 53],
  ] as const)('takes no %s', (_, value) => {
    expect(() => encodeRlp([value])).toThrow(RangeError)
  })

  test('nests as deep as an authorization list does', () => {
    expect(encodeRlp([1, ['0x'], [[0n, 0x80, '0x7f']]]).toString('hex')).toBe(
      'c901c180c5c48081807f',
    )
  })
})

describe('what the user side remembers of a payload', () => {
  test('tells an authorization from data that looks like one', () => {
    const authorization = {
      chainId: 8453,
      address: '0x4444444444444444444444444444444444444444',
      nonce: 1,
      yParity: 0,
      r: '0x11',
      s: '0x22',
    } as const
    const encodedOf = (authorizationList: (typeof authorization)[], callData: Hex) => {
      const bytes = encodeTransaction({
        type: 'transaction',
        chainId: 8453,
        nonce: 7,
        to: '0x3333333333333333333333333333333333333333',
        value: 0n,
        data: callData,
        gasLimit: 100_000n,
        maxFeePerGas: 2n,
        maxPriorityFeePerGas: 1n,
        authorizationList,
      })
      return { bytes, payload: decodeTransaction(bytes) }
    }
    const one = encodedOf([authorization], '0x')
    const listed = toHex(one.payload.encodedAuthorizations[0] ?? new Uint8Array())
    const [inData, twice] = [
      encodedOf([authorization], listed),
      encodedOf([authorization, authorization], '0x'),
    ].map(({ bytes, payload }) => entryOf(Buffer.alloc(32), payload, bytes, null).bodyHash)
    expect(inData).not.toEqual(twice)
  })
})

describe('what a payload decodes as', () => {
  const fields: TransactionPayload = {
    ...{ type: 'transaction', chainId: 8453, nonce: 3, to: `0x${'11'.repeat(20)}`, value: 7n },
    ...{ data: '0x1234', gasLimit: 21_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 9n },
  }
  const bytes = encodeTransaction(fields)

  test('is refused with a byte behind it, or without its last one', () => {
    expect(decodeTransaction(bytes).maxFeePerGasWei).toBe(9n)
    expect(() => decodeTransaction(Buffer.concat([bytes, Buffer.of(0)]))).toThrow('MALFORMED')
    expect(() => decodeTransaction(bytes.subarray(0, -1))).toThrow('MALFORMED')
  })

  test('is refused with a tip above its fee, which no chain takes', () => {
    const dear = encodeTransaction({ ...fields, maxPriorityFeePerGas: 10n })
    expect(() => decodeTransaction(dear)).toThrow('MALFORMED')
  })
})
