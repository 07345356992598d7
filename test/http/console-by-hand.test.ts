import fc from 'fast-check'
import { encodeFunctionData, getAddress, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.js'
import { operations } from '../../src/api/operations.js'
import {
  type DocumentedField,
  documentedOperations,
  inputOf,
  type OpenApiDocument,
} from '../../src/console/playground/documented.js'
import { plannedRequest } from '../../src/console/playground/request.js'
import { snippetsOf } from '../../src/console/playground/snippets.js'
import { endingCall, transferCall } from '../../src/console/wallets/calldata.js'

/** What people call by hand in the console is what they mean. */

const ABI = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
])
const PERMIT2 = parseAbi([
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
])
const ZERO = `0x${'0'.repeat(40)}` as const

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('calldata by hand', () => {
  test('is what the ABI of the token makes of it', () => {
    fc.assert(
      fc.property(address, address, uint256, (token, other, amount) => {
        expect(transferCall(token, other, String(amount))).toEqual({
          to: token,
          data: encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [other, amount] }),
        })
        const one = { token, spender: other, token_id: String(amount) }
        expect(endingCall({ ...one, kind: 'erc20' })?.data).toBe(
          encodeFunctionData({ abi: ABI, functionName: 'approve', args: [other, 0n] }),
        )
        expect(endingCall({ ...one, kind: 'erc721' })?.data).toBe(
          encodeFunctionData({ abi: ABI, functionName: 'approve', args: [ZERO, amount] }),
        )
        expect(endingCall({ ...one, kind: 'collection' })?.data).toBe(
          encodeFunctionData({
            ...{ abi: ABI, functionName: 'setApprovalForAll', args: [other, false] },
          }),
        )
        expect(endingCall({ ...one, kind: 'permit2' })).toEqual({
          to: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
          data: encodeFunctionData({
            ...{ abi: PERMIT2, functionName: 'approve', args: [token, other, 0n, 0] },
          }),
        })
      }),
      { numRuns: 50 },
    )
  })

  test('an approval that no single call ends has none', () => {
    const one = { token: ZERO, spender: ZERO, token_id: null }
    expect(endingCall({ ...one, kind: 'erc721' })).toBeNull()
    expect(endingCall({ ...one, kind: 'something newer' })).toBeNull()
  })
})

describe('the playground', () => {
  const documented = documentedOperations(openApiDocument() as unknown as OpenApiDocument)
  const of = (name: string) => {
    const found = documented.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${name} is not documented`)
    return found
  }

  test('has every operation of an agent, and no other', () => {
    expect(documented.map(({ name }) => name).sort()).toEqual(
      operations.map(({ name }) => name as string).sort(),
    )
  })

  test.each(operations.map((row) => [row.name as string, row] as const))(
    'the example of %s, typed into the form, is an input of it',
    (name, row) => {
      const { fields } = of(name)
      const typed = Object.fromEntries(fields.map((one) => [one.name, one.example]))
      const parsed = row.input.safeParse(inputOf(fields, typed))
      expect(parsed.error?.issues).toBeUndefined()
    },
  )

  test('what is left empty is left out, and what is no number is not made one', () => {
    const { fields } = of('send_transaction')
    expect(inputOf(fields, { chain_id: '137', to: ' 0xab ', value: '' })).toEqual({
      ...{ chain_id: 137, to: '0xab' },
    })
    expect(inputOf(fields, { chain_id: '0x89' })).toEqual({ chain_id: '0x89' })
    expect(inputOf(fields, { chain_id: '1e400' })).toEqual({ chain_id: '1e400' })
  })

  test('a number that a browser cannot hold is not sent as another one', () => {
    const fields = [{ name: 'policy', place: 'body', type: 'json' }] as unknown as DocumentedField[]
    const of = (text: string) => inputOf(fields, { policy: text }).policy
    expect(of('{"n": 9007199254740993}')).toBe('{"n": 9007199254740993}')
    expect(of('[1.10, 1e3, -0.5]')).toEqual([1.1, 1000, -0.5])
    expect(of('[0.1234567890123456789]')).toBe('[0.1234567890123456789]')
    expect(
      of('{"a": [1, -2.5, 12345678901234567890], "9007199254740993": "\\"9007199254740993"}'),
    ).toBe('{"a": [1, -2.5, 12345678901234567890], "9007199254740993": "\\"9007199254740993"}')
    expect(of('{"a": [1, -2.5], "9007199254740993": "\\"9007199254740993"}')).toEqual({
      ...{ a: [1, -2.5], '9007199254740993': '"9007199254740993' },
    })
  })

  test('fills the path, the query and the body', () => {
    const status = of('get_transaction_status')
    expect(plannedRequest(status, { tx_id: 'a/b?c' }, 'k')).toEqual({
      ...{ method: 'GET', path: '/api/tx/a%2Fb%3Fc', headers: {}, body: null },
    })
    const balance = plannedRequest(of('get_native_balance'), { chain_id: 1 }, 'k')
    expect(balance.path).toBe('/api/wallet/native-balance?chain_id=1')
    const sent = plannedRequest(of('send_transaction'), { chain_id: 1, to: '0xab' }, 'k')
    expect(sent).toMatchObject({
      ...{ method: 'POST', path: '/api/tx/send', body: '{"chain_id":1,"to":"0xab"}' },
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
    })
  })

  test('says the same call three ways, none of which a quote breaks out of', () => {
    const operation = of('send_transaction')
    const input = { chain_id: 1, to: "0xab'; rm -rf / #" }
    const request = plannedRequest(operation, input, 'key-1')
    const [curl, typescript, mcp] = snippetsOf(
      ...([operation, input, request, 'key-1', 'https://w.example'] as const),
    ).map(({ text }) => text)
    expect(curl).toContain(`'{"chain_id":1,"to":"0xab'\\''; rm -rf / #"}'`)
    expect(curl).toContain('$COUNTERSIGN_API_KEY')
    expect(typescript).toContain('wallet.sendTransaction({')
    expect(typescript).toContain('"idempotencyKey": "key-1"')
    expect(JSON.parse(String(mcp)).params).toEqual({
      ...{ name: 'send_transaction', arguments: { ...input, idempotency_key: 'key-1' } },
    })
  })
})
