import fc from 'fast-check'
import { type Hex, serializeTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  decodeTransaction,
  encodeTransaction,
  signedTransaction,
  toHex,
} from '../../src/custody/protocol/transaction.js'

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
