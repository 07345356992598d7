import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CONSOLE_TOKEN,
  type Harness,
  READ_SECRET,
  readError,
  startHarness,
  TRADE_SECRET,
} from './harness.js'

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const WRONG_CHECKSUM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'
const SEND = { chain_id: 8453, to: ADDRESS, data: '0x', value: '1' }
const TOO_LONG = 256 * 1024 + 1

interface Row {
  readonly title: string
  readonly method?: string
  readonly path?: string
  readonly secret?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Sent as it is. */
  readonly text?: string | Uint8Array
  readonly status: number
  readonly code: string
  /** A path that `details.issues` must name. */
  readonly issue?: string
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const withField = (name: string, value: unknown) => ({ ...SEND, [name]: value })
const get = (path: string) => ({ method: 'GET', path })
const badField = (title: string, name: string, value: unknown): Row => ({
  title,
  body: withField(name, value),
  status: 400,
  code: 'INVALID_REQUEST',
  issue: name,
})
const badText = (title: string, text: string | Uint8Array, issue = '$'): Row => ({
  title,
  text,
  status: 400,
  code: 'INVALID_REQUEST',
  issue,
})
const badGet = (title: string, path: string, issue: string): Row => ({
  title,
  ...get(path),
  status: 400,
  code: 'INVALID_REQUEST',
  issue,
})
const badSecret = (title: string, secret: string | null, code: string): Row => ({
  title,
  ...get('/api/limits'),
  secret,
  status: 401,
  code,
})
const badIdempotencyKey = (title: string, headers: Record<string, string>, issue: string): Row => ({
  title,
  body: SEND,
  headers,
  status: 400,
  code: 'INVALID_REQUEST',
  issue,
})

const rows: readonly Row[] = [
  badSecret('no key', null, 'UNAUTHENTICATED'),
  badSecret('a key without its prefix', 'T'.repeat(40), 'UNAUTHENTICATED'),
  badSecret('a key that is too short', `sk_test_${'T'.repeat(31)}`, 'UNAUTHENTICATED'),
  badSecret('a key with a foreign character', `sk_test_${'T'.repeat(31)}!`, 'UNAUTHENTICATED'),
  badSecret('a very long key', `sk_test_${'T'.repeat(3_000)}`, 'UNAUTHENTICATED'),
  badSecret('an unknown key', `sk_test_${'X'.repeat(32)}`, 'INVALID_KEY'),
  badSecret('a key of the other environment', `sk_live_${'T'.repeat(32)}`, 'INVALID_KEY'),
  {
    title: 'an unknown key with a bad body',
    secret: `sk_test_${'X'.repeat(32)}`,
    text: '{',
    status: 401,
    code: 'INVALID_KEY',
  },
  {
    title: 'no key with a body over the limit',
    secret: null,
    text: ' '.repeat(TOO_LONG),
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    title: 'a read key that sends',
    secret: READ_SECRET,
    body: SEND,
    status: 403,
    code: 'PERMISSION_DENIED',
  },
  {
    title: 'a read key with a bad body',
    secret: READ_SECRET,
    text: '{',
    status: 403,
    code: 'PERMISSION_DENIED',
  },

  badText('malformed JSON', '{"chain_id": 8453,'),
  badText('JSON that is an array', '[]'),
  badText('JSON that is null', 'null'),
  badText('JSON that is a string', '"x"'),
  badText('JSON with text behind it', `${JSON.stringify(SEND)} x`),
  badText('invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  badText('an array 10,000 deep', deep(10_000)),
  badText('a field 10,000 deep', `{"chain_id":8453,"to":${deep(10_000)}}`, 'to'),
  badText('objects 10,000 deep', `${'{"to":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'to'),
  badText('a field given twice', `{"chain_id":8453,"to":"${ADDRESS}","value":"1","value":"2"}`),
  badText('an empty body', '', 'to'),
  badText('an empty object', '{}', 'chain_id'),
  badText(
    'a __proto__ field',
    `{"chain_id":8453,"to":"${ADDRESS}","__proto__":{"value":"1"}}`,
    '__proto__',
  ),

  badField('an unknown field', 'gas_price', '1'),
  badField('a chain id that is text', 'chain_id', '8453'),
  badField('a chain id with a fraction', 'chain_id', 1.5),
  badField('a negative chain id', 'chain_id', -1),
  badField('a chain id past the safe integers', 'chain_id', 2 ** 53),
  badField('a chain id that is null', 'chain_id', null),
  badField('a recipient that is a number', 'to', 5),
  badField('a recipient with a wrong checksum', 'to', WRONG_CHECKSUM),
  badField('a recipient that is too short', 'to', '0x1234'),
  badField('a recipient with an upper-case 0X', 'to', `0X${ADDRESS.slice(2)}`),
  badField('a recipient that is a name', 'to', 'vitalik.eth'),
  badField('a recipient with white space', 'to', ` ${ADDRESS}`),
  badField('calldata of odd length', 'data', '0x123'),
  badField('calldata without 0x', 'data', 'abcd'),
  badField('calldata that is no hex', 'data', '0xzz'),
  badField('a negative amount', 'value', '-1'),
  badField('an amount that is a number', 'value', 1),
  badField('an amount with a fraction', 'value', '1.5'),
  badField('an amount with an exponent', 'value', '1e18'),
  badField('an amount with a leading zero', 'value', '01'),
  badField('an amount with a plus sign', 'value', '+1'),
  badField('an empty amount', 'value', ''),
  badField('an amount of a thousand digits', 'value', '9'.repeat(1_000)),
  badField('an amount of 2^256', 'value', (1n << 256n).toString()),
  badField('an amount of 78 nines', 'value', '9'.repeat(78)),
  badField('an amount in Arabic digits', 'value', '١'),

  {
    title: 'a chain that is none of the six',
    body: withField('chain_id', 5),
    status: 403,
    code: 'CHAIN_NOT_ALLOWED',
  },
  {
    title: 'a chain outside the key',
    body: withField('chain_id', 10),
    status: 403,
    code: 'CHAIN_NOT_ALLOWED',
  },
  {
    title: 'a chain outside the key, on a read',
    ...get('/api/gas/estimate?chain_id=10'),
    status: 403,
    code: 'CHAIN_NOT_ALLOWED',
  },
  {
    title: 'a chain that is none of the six, on a read',
    ...get('/api/gas/estimate?chain_id=999'),
    status: 403,
    code: 'CHAIN_NOT_ALLOWED',
  },

  badGet('a query without its parameter', '/api/gas/estimate', 'chain_id'),
  badGet('a query with a word for a number', '/api/gas/estimate?chain_id=base', 'chain_id'),
  badGet('a query with an empty number', '/api/gas/estimate?chain_id=', 'chain_id'),
  badGet('a query with a hex number', '/api/gas/estimate?chain_id=0x1', 'chain_id'),
  badGet('a query with a negative number', '/api/gas/estimate?chain_id=-1', 'chain_id'),
  badGet(
    'a query with an unsafe number',
    '/api/gas/estimate?chain_id=9999999999999999',
    'chain_id',
  ),
  badGet('a query with a spaced number', '/api/gas/estimate?chain_id=+1', 'chain_id'),
  badGet('a query parameter given twice', '/api/gas/estimate?chain_id=1&chain_id=8453', 'chain_id'),
  badGet(
    'a query parameter given twice alike',
    '/api/gas/estimate?chain_id=1&chain_id=1',
    'chain_id',
  ),
  badGet(
    'a query parameter given twice, once encoded',
    '/api/gas/estimate?chain_id=1&chain%5Fid=1',
    'chain_id',
  ),
  badGet('an unknown query parameter', '/api/gas/estimate?chain_id=1&speed=fast', 'speed'),
  badGet('a query where none is taken', '/api/limits?x=1', 'x'),
  badGet('a query with a broken escape', '/api/gas/estimate?chain_id=%zz', 'chain_id'),
  badGet('a path parameter in the query', '/api/tx/tx_1?tx_id=tx_2', 'tx_id'),
  badGet('a path with a broken escape', '/api/tx/%ff', 'tx_id'),
  badGet('a path parameter that is too long', `/api/tx/${'x'.repeat(65)}`, 'tx_id'),
  badGet('a query of a hundred parameters', `/api/limits?${'a=1&'.repeat(100)}`, '$'),
  badGet('a query of 5,000 characters', `/api/limits?a=${'1'.repeat(5_000)}`, '$'),
  badGet(
    'a token with a wrong checksum',
    `/api/wallet/balance?chain_id=1&token=${WRONG_CHECKSUM}`,
    'token',
  ),

  {
    title: 'a body over the limit',
    text: ' '.repeat(TOO_LONG),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    title: 'a form',
    text: 'a=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    title: 'a type that only starts like JSON',
    text: '{}',
    headers: { 'content-type': 'application/jsonx' },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    title: 'a body without a type',
    text: Buffer.from('{}'),
    headers: { 'content-type': '' },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },

  badIdempotencyKey(
    'an idempotency key of 256 characters',
    { 'idempotency-key': 'k'.repeat(256) },
    'Idempotency-Key',
  ),
  badIdempotencyKey(
    'an idempotency key with a space',
    { 'idempotency-key': 'a b' },
    'Idempotency-Key',
  ),
  badIdempotencyKey(
    'an idempotency key beyond ASCII',
    { 'idempotency-key': 'kéy' },
    'Idempotency-Key',
  ),
  badIdempotencyKey(
    'two different idempotency keys',
    { 'idempotency-key': 'a', 'x-idempotency-key': 'b' },
    'X-Idempotency-Key',
  ),

  { title: 'an unknown route', ...get('/api/unknown'), status: 404, code: 'NOT_FOUND' },
  {
    title: 'an unknown route without a key',
    ...get('/api/unknown'),
    secret: null,
    status: 404,
    code: 'NOT_FOUND',
  },
  { title: 'a trailing slash', ...get('/api/limits/'), status: 404, code: 'NOT_FOUND' },
  { title: 'the root', ...get('/'), status: 404, code: 'NOT_FOUND' },
  {
    title: 'a wrong method',
    method: 'PUT',
    path: '/api/tx/send',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    title: 'GET where only POST is',
    ...get('/api/tx/send'),
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    title: 'DELETE where GET is',
    method: 'DELETE',
    path: '/api/tx/tx_1',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },

  {
    title: 'a console route without a token',
    ...get('/api/v1/agent/me'),
    status: 401,
    code: 'INVALID_TOKEN',
  },
  {
    title: 'a console route with a wrong token',
    ...get('/api/v1/agent/me'),
    headers: { authorization: 'Bearer x' },
    status: 401,
    code: 'INVALID_TOKEN',
  },
  {
    title: 'a console route with a bad body',
    path: '/api/v1/agent/wallets',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    body: {},
    status: 400,
    code: 'INVALID_REQUEST',
    issue: 'name',
  },
  {
    title: 'a name that would be shown as another one',
    path: '/api/v1/agent/wallets',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    body: { name: '\u202Eyrusaert\u202C' },
    status: 400,
    code: 'INVALID_REQUEST',
    issue: 'name',
  },
  {
    title: 'a reason that would be shown as another one',
    path: '/api/v1/agent/freeze',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    body: { scope: 'user', reason: 'by \u2066me\u2069' },
    status: 400,
    code: 'INVALID_REQUEST',
    issue: 'reason',
  },
  {
    title: 'a path parameter in the body',
    path: '/api/v1/agent/keys/key_1/rotate',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    body: { key_id: 'key_2' },
    status: 400,
    code: 'INVALID_REQUEST',
    issue: 'key_id',
  },
  {
    title: 'a cap that is neither USD nor unlimited',
    path: '/api/v1/agent/keys',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    body: {
      name: 'a',
      sub_wallet_id: 'sw_1',
      permission: 'read',
      daily_limit_usd: 'lots',
      monthly_limit_usd: '1',
    },
    status: 400,
    code: 'INVALID_REQUEST',
    issue: 'daily_limit_usd',
  },
]

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(async () => {
  await harness.server.close()
})

async function request(row: Row): Promise<Response> {
  const secret = row.secret === undefined ? TRADE_SECRET : row.secret
  const hasBody = row.text !== undefined || row.body !== undefined
  const init: RequestInit = {
    method: row.method ?? 'POST',
    headers: {
      ...(secret === null ? {} : { 'x-api-key': secret }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...row.headers,
    },
  }
  if (hasBody) init.body = (row.text as string | undefined) ?? JSON.stringify(row.body)
  return fetch(harness.baseUrl + (row.path ?? '/api/tx/send'), init)
}

describe('bad input is refused, and the service lives on', () => {
  test.each(rows)('$title → $status $code', async (row) => {
    const response = await request(row)
    const error = await readError(response)

    expect(error).toMatchObject({ code: row.code, message: expect.any(String) })
    expect(response.status).toBe(row.status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(error?.details).toBeTypeOf('object')
    expect(error?.request_id).toBe(response.headers.get('x-request-id'))
    if (row.issue !== undefined) {
      expect(error?.details.issues?.map((issue) => issue.path)).toContain(row.issue)
    }
    expect(JSON.stringify(error).length).toBeLessThan(4_000)

    const alive = await fetch(`${harness.baseUrl}/healthz`)
    expect(alive.status).toBe(200)
  })

  test('at most 20 issues are listed, of however many there are', async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, 1]))
    const error = await readError(await request({ title: '', body, status: 400, code: '' }))
    expect(error?.details.issues).toHaveLength(20)
  })

  test('a refusal never repeats a long value back', async () => {
    const body = { ...SEND, [`f${'z'.repeat(50_000)}`]: 'y'.repeat(50_000) }
    const error = await readError(await request({ title: '', body, status: 400, code: '' }))
    expect(JSON.stringify(error).length).toBeLessThan(1_000)
  })
})

describe('good input passes', () => {
  test.each([
    ['a checksummed address', { ...SEND }],
    ['a lower-case address', { ...SEND, to: ADDRESS.toLowerCase() }],
    ['an upper-case address', { ...SEND, to: `0x${ADDRESS.slice(2).toUpperCase()}` }],
    ['the largest amount', { ...SEND, value: ((1n << 256n) - 1n).toString() }],
    ['a hex amount', { ...SEND, value: '0xff' }],
    ['no data and no value', { chain_id: 1, to: ADDRESS }],
    ['128 KiB of calldata less the frame', { ...SEND, data: `0x${'ab'.repeat(130_000)}` }],
  ])('%s', async (_title, body) => {
    const response = await request({ title: '', body, status: 200, code: '' })
    expect(response.status).toBe(200)
    expect(harness.last()?.input).toEqual(body)
  })

  test('a charset behind the content type', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    const response = await request({ title: '', headers, body: SEND, status: 200, code: '' })
    expect(response.status).toBe(200)
  })
})
