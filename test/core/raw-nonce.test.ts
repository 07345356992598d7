import fc from 'fast-check'
import { serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { nonceOfRaw } from '../../src/domain/raw-nonce.js'
import { ADDRESS, CHAIN_ID } from '../actors/wallet-fixtures.js'

test('the nonce of signed bytes is read back, whatever their length', () => {
  const nonces = fc.oneof(fc.nat(300), fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 40, 2 ** 53 - 1))
  const data = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(nonces, data, fc.constantFrom(1, CHAIN_ID, 42_161), (nonce, bytes, chainId) => {
      const hex = `0x${Buffer.from(bytes).toString('hex')}` as const
      const call = { chainId, nonce, to: ADDRESS, data: hex }
      expect(nonceOfRaw(serializeTransaction({ type: 'eip1559', ...call }))).toBe(nonce)
      const authorizationList: [] = []
      const raw = serializeTransaction({ type: 'eip7702', ...call, authorizationList })
      expect(nonceOfRaw(raw)).toBe(nonce)
    }),
  )
})

test('what is no transaction has no nonce', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const nonce = nonceOfRaw(`0x${Buffer.from(bytes).toString('hex')}`)
      expect(nonce === null || Number.isSafeInteger(nonce)).toBe(true)
    }),
  )
  expect(nonceOfRaw('0x')).toBeNull()
  expect(nonceOfRaw('0x1')).toBeNull()
  expect(nonceOfRaw('0x02f8')).toBeNull()
})
