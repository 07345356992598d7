import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseInput } from '../../src/api/parse.js'
import { hasPlausibleChecksum, toChecksumAddress } from '../../src/api/parse-address.js'
import { hashRequest } from '../../src/api/parse-idempotency.js'
import { CALLDATA_BYTES_MAX } from '../../src/api/primitives.js'
import { sendTransactionInput } from '../../src/api/transaction.js'
import { parseJsonObject } from '../../src/http/json-body.js'
import { readQuery } from '../../src/http/request-input.js'

describe('EIP-55', () => {
  test.each([
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ])('the vector %s of the EIP is reproduced', (address) => {
    expect(toChecksumAddress(address.toLowerCase())).toBe(address)
    expect(hasPlausibleChecksum(address)).toBe(true)
  })

  test('agrees with viem on any address', () => {
    const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 })
    fc.assert(
      fc.property(addresses, (bytes) => {
        const lower = `0x${Buffer.from(bytes).toString('hex')}` as const
        expect(toChecksumAddress(lower)).toBe(getAddress(lower))
      }),
    )
  })

  test('one letter in the wrong case is noticed', () => {
    const address = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
    const letters = [...address]
      .map((c, i) => [c, i] as const)
      .filter(([c, i]) => i > 1 && /[a-f]/i.test(c))
    for (const [char, i] of letters) {
      const flipped = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()
      expect(hasPlausibleChecksum(address.slice(0, i) + flipped + address.slice(i + 1))).toBe(false)
    }
  })
})

describe('parseInput', () => {
  const send = { chain_id: 1, to: `0x${'ab'.repeat(20)}` }
  const pathsOf = (schema: z.ZodType, input: unknown) => {
    const result = parseInput(schema, input)
    if (result.ok) return []
    return (result.fault.details.issues as { path: string }[]).map((issue) => issue.path)
  }

  test('calldata of 128 KiB passes, one byte more does not', () => {
    const calldata = (bytes: number) => ({ ...send, data: `0x${'ab'.repeat(bytes)}` })
    expect(pathsOf(sendTransactionInput, calldata(CALLDATA_BYTES_MAX))).toEqual([])
    expect(pathsOf(sendTransactionInput, calldata(CALLDATA_BYTES_MAX + 1))).toContain('data')
  })

  test('paths are dotted, and unknown fields named one by one', () => {
    const schema = z.strictObject({ a: z.array(z.strictObject({ b: z.int() })) })
    expect(pathsOf(schema, { a: [{ b: 'x', c: 1, d: 2 }], e: 3 }).sort()).toEqual([
      'a.0.b',
      'a.0.c',
      'a.0.d',
      'e',
    ])
  })

  test('of a union of objects the closest branch is reported', () => {
    const quote = z.strictObject({ quote_id: z.string() })
    const full = z.strictObject({ chain_id: z.int(), amount: z.string(), token: z.string() })
    expect(pathsOf(z.union([full, quote]), { quote_id: 5 })).toEqual(['quote_id'])
  })

  test('property: nothing thrown at it makes it throw', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (input) => {
        expect(typeof parseInput(sendTransactionInput, input).ok).toBe('boolean')
      }),
    )
  })
})

describe('request hashes', () => {
  test('field order does not matter; names, values and the operation do', () => {
    const hash = hashRequest('send', { a: 1, b: [1, { c: null }] })
    expect(hashRequest('send', { b: [1, { c: null }], a: 1 })).toBe(hash)
    expect(hashRequest('swap', { a: 1, b: [1, { c: null }] })).not.toBe(hash)
    expect(hashRequest('send', { a: 1, b: [1, { c: 0 }] })).not.toBe(hash)
    expect(hashRequest('send', { a: 1, b: { 0: 1, 1: { c: null } } })).not.toBe(hash)
  })
})

describe('JSON bodies', () => {
  const parse = (text: string) => parseJsonObject(Buffer.from(text))

  test('property: any object comes through as JSON.parse sees it', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(objects, fc.constantFrom(0, 2), (object, indent) => {
        const text = JSON.stringify(object, null, indent)
        const result = parse(text)
        expect(result.ok && result.value).toEqual(JSON.parse(text))
      }),
    )
  })

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"a\\"":1,"a\\"":2}',
    '{ "a" : {"b":1} , "a":0}',
  ])('a field given twice is refused: %s', (text) => {
    expect(parse(text).ok).toBe(false)
  })

  test.each(['{"a":{"b":1},"b":2}', '{"a":":","b":"\\\\"}', '{"a":["x:y",{"a":1}]}'])(
    'what only looks like it passes: %s',
    (text) => {
      expect(parse(text).ok).toBe(true)
    },
  )
})

describe('queries', () => {
  test('are decoded once, plus as space, in UTF-8', () => {
    const result = readQuery('a=1%2B1&b=x+y&c=%C3%A9&d', {}, new Set())
    expect(result.ok && result.value).toEqual({ a: '1+1', b: 'x y', c: 'é', d: '' })
  })

  test('a __proto__ parameter is a parameter like any other', () => {
    const result = readQuery('__proto__=x', {}, new Set())
    expect(result.ok && Object.keys(result.value)).toEqual(['__proto__'])
  })
})
