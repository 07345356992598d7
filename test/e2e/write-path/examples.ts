import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../src/api/openapi.js'
import { newAddress } from '../chain.js'
import type { Stack } from '../stack.js'

/** What the documents show is what the service answers, field by field. */

const BASE = 8453
const AGENT_READS = [
  '/api/wallet/address',
  '/api/wallet/chains',
  '/api/wallet/allowances',
  '/api/wallet/native-balance',
  '/api/wallet/token-balances',
  '/api/limits',
  '/api/gas/estimate',
  '/api/defi/markets',
  '/api/defi/positions',
]
const NEEDS_CHAIN = /native-balance|token-balances|allowances|gas\/estimate/
const CONSOLE_READS = ['me', 'wallets', 'keys', 'webhooks', 'events', 'audit', 'transactions']

type Json = Readonly<Record<string, unknown>>
interface Documented {
  readonly responses: Readonly<
    Record<
      string,
      { readonly content: { readonly 'application/json': { readonly example: Json } } }
    >
  >
}
const paths = openApiDocument().paths as unknown as Readonly<
  Record<string, Readonly<Record<string, Documented>>>
>

function exampleAt(path: string, method: string): Json {
  const responses = paths[path]?.[method]?.responses ?? {}
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  return success?.content['application/json'].example ?? {}
}

/** Objects whose fields depend on what they are about. */
const OPEN = /\.(details|events\[\]\.data)$/

/** Paths of all fields; of lists, those of the first. */
function fieldsOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : fieldsOf(value[0], `${at}[]`)
  if (typeof value !== 'object' || value === null || OPEN.test(at)) return []
  return Object.entries(value).flatMap(([name, child]) => [
    `${at}.${name}`,
    ...fieldsOf(child, `${at}.${name}`),
  ])
}

/** @param real may have nothing to show where the example does: an empty list, a null */
function expectLikeExample(real: Json, example: Json): void {
  const shown = new Set(fieldsOf(example))
  const answered = fieldsOf(real)
  expect(answered.filter((field) => !shown.has(field))).toEqual([])
  const parents = new Set(answered.map((field) => field.slice(0, field.lastIndexOf('.'))))
  const there = new Set(answered)
  const invented = [...shown].filter(
    (field) => parents.has(field.slice(0, field.lastIndexOf('.'))) && !there.has(field),
  )
  expect(invented).toEqual([])
}

export function describeExamples(stack: () => Stack): void {
  describe('the example of the documents has the fields of a real answer', () => {
    test.each(AGENT_READS)('GET %s', async (path) => {
      const query = NEEDS_CHAIN.test(path) ? `?chain_id=${BASE}` : ''
      const { status, json, text } = await stack().service.api().get(`${path}${query}`)
      expect(status, text).toBe(200)
      expectLikeExample(json, exampleAt(path, 'get'))
    })

    test.each(CONSOLE_READS)('GET /api/v1/agent/%s', async (path) => {
      const { status, json, text } = await stack().owner.get(`/${path}`)
      expect(status, text).toBe(200)
      expectLikeExample(json, exampleAt(`/api/v1/agent/${path}`, 'get'))
    })

    test('POST /api/tx/simulate', async () => {
      const call = { chain_id: BASE, to: newAddress(), value: '1' }
      const { status, json, text } = await stack().service.api().post('/api/tx/simulate', call)
      expect(status, text).toBe(200)
      expectLikeExample(json, exampleAt('/api/tx/simulate', 'post'))
    })

    test('POST /api/swap/quote', async () => {
      const { USDC: token_in, WRAPPED: token_out } = stack().service.dev().tokens[BASE] ?? {}
      const swap = { chain_id: BASE, token_in, token_out, amount_in: '1500000' }
      const { status, json, text } = await stack().service.api().post('/api/swap/quote', swap)
      expect(status, text).toBe(200)
      expectLikeExample(json, exampleAt('/api/swap/quote', 'post'))
    })
  })
}
