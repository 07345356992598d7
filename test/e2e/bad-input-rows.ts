import type { Stack } from './stack.js'

/** One bad request, and how it has to be answered. */
export interface Row {
  readonly title: string
  readonly method: string
  readonly path: string
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Who asks; the development trade key when left out. */
  readonly as?: 'nobody' | 'reader' | 'owner' | { readonly secret: string }
  readonly status: number
  readonly code: string
}

const BASE = 8453
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SEND = { chain_id: BASE, to: ADDRESS, data: '0x', value: '1' }
const BODY_BYTES_MAX = 256 * 1024
const CALLDATA_BYTES_MAX = 131_072
const ULID_ZERO = '0'.repeat(26)
/** More than all that is there. */
const MILLION_ETHER = `1${'0'.repeat(24)}`

const send = (
  title: string,
  body: unknown,
  status = 400,
  code = 'INVALID_REQUEST',
  headers: Readonly<Record<string, string>> = {},
): Row => ({ title, method: 'POST', path: '/api/tx/send', body, headers, status, code })

const field = (title: string, name: string, value: unknown): Row =>
  send(title, { ...SEND, [name]: value })

const get = (title: string, path: string, status = 400, code = 'INVALID_REQUEST'): Row => ({
  title,
  method: 'GET',
  path,
  status,
  code,
})

const key = (title: string, as: Row['as'], code: string): Row => ({
  title,
  method: 'POST',
  path: '/api/tx/send',
  body: SEND,
  ...(as === undefined ? {} : { as }),
  status: 401,
  code,
})

const owner = (
  title: string,
  method: string,
  path: string,
  body: unknown,
  status = 400,
  code = 'INVALID_REQUEST',
): Row => ({
  title,
  method,
  path: `/api/v1/agent${path}`,
  ...(body === undefined ? {} : { body }),
  as: 'owner',
  status,
  code,
})

const BODIES: readonly Row[] = [
  send('a body that breaks off', '{"chain_id":8453,'),
  send('a body of words', 'send it all'),
  send('a list as the body', [SEND]),
  send('null as the body', 'null'),
  send('a number as the body', '1e999'),
  send('an empty object', {}),
  send('bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  send('a field given twice', `{"chain_id":8453,"to":"${ADDRESS}","value":"1","value":"2"}`),
  send('a prototype in the body', `{"__proto__":{"value":"1"},"chain_id":8453,"to":"${ADDRESS}"}`),
  send('brackets nested without end', `${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  send('a body one byte too long', ' '.repeat(BODY_BYTES_MAX + 1), 413, 'PAYLOAD_TOO_LARGE'),
  send('a body of another type', 'chain_id=8453', 415, 'UNSUPPORTED_MEDIA_TYPE', {
    'content-type': 'application/x-www-form-urlencoded',
  }),
]

const FIELDS: readonly Row[] = [
  field('an unknown field', 'gas', '1'),
  field('an unknown field with an odd name', '$where', '1'),
  field('a chain id as text', 'chain_id', '8453'),
  field('a chain id with a fraction', 'chain_id', 8453.5),
  field('a negative chain id', 'chain_id', -1),
  field('no chain id', 'chain_id', null),
  send('an unknown chain', { ...SEND, chain_id: 5 }, 403, 'CHAIN_NOT_ALLOWED'),
  send('chain zero', { ...SEND, chain_id: 0 }, 403, 'CHAIN_NOT_ALLOWED'),
  field('a recipient that is too short', 'to', '0x12'),
  field('a recipient that is too long', 'to', `${ADDRESS}00`),
  field('a recipient without 0x', 'to', ADDRESS.slice(2)),
  field('a recipient with a wrong checksum', 'to', `${ADDRESS.slice(0, -1)}D`),
  field('a name for a recipient', 'to', 'vitalik.eth'),
  field('no recipient, to create a contract', 'to', null),
  field('a list of recipients', 'to', [ADDRESS]),
  field('calldata of odd length', 'data', '0xabc'),
  field('calldata without 0x', 'data', 'abcd'),
  field('calldata that is no hex', 'data', '0xzz'),
  // Its hex digits alone fill a body, so the body's bound answers.
  send(
    'calldata that is too long',
    { ...SEND, data: `0x${'00'.repeat(CALLDATA_BYTES_MAX + 1)}` },
    413,
    'PAYLOAD_TOO_LARGE',
  ),
  field('a value as a number', 'value', 1),
  field('a negative value', 'value', '-1'),
  field('a value with a fraction', 'value', '1.5'),
  field('a value with an exponent', 'value', '1e18'),
  field('a value with a leading zero', 'value', '01'),
  field('a value with spaces', 'value', ' 1 '),
  field('an empty value', 'value', ''),
  field('a value of 2^256', 'value', (2n ** 256n).toString()),
  field('a value of a million digits', 'value', '9'.repeat(1_000)),
  field('NaN as a value', 'value', 'NaN'),
  field('a value in Arabic digits', 'value', '١'),
  send('2^256 - 1 wei', { ...SEND, value: (2n ** 256n - 1n).toString() }, 403, 'LIMIT_EXCEEDED'),
  send('a million ether', { ...SEND, value: MILLION_ETHER }, 403, 'LIMIT_EXCEEDED'),
  send('an Idempotency-Key with a space', SEND, 400, 'INVALID_REQUEST', {
    'idempotency-key': 'a b',
  }),
  send('an Idempotency-Key that is too long', SEND, 400, 'INVALID_REQUEST', {
    'idempotency-key': 'k'.repeat(256),
  }),
]

const CALLERS: readonly Row[] = [
  key('no key', 'nobody', 'UNAUTHENTICATED'),
  key('a malformed key', { secret: 'garbage' }, 'UNAUTHENTICATED'),
  key('a key that is too short', { secret: `sk_test_${'a'.repeat(31)}` }, 'UNAUTHENTICATED'),
  key('an unknown key', { secret: `sk_test_${'a'.repeat(32)}` }, 'INVALID_KEY'),
  key('a live key', { secret: `sk_live_${'a'.repeat(32)}` }, 'INVALID_KEY'),
  {
    ...send('a read key', SEND, 403, 'PERMISSION_DENIED'),
    as: 'reader',
  },
  { ...get('a console route without a token', '/api/v1/agent/me', 401, 'INVALID_TOKEN') },
  {
    ...get('a console route with a forged token', '/api/v1/agent/me', 401, 'INVALID_TOKEN'),
    headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' },
  },
]

const ROUTES: readonly Row[] = [
  get('an unknown route', '/api/nothing', 404, 'NOT_FOUND'),
  get('a route one level too deep', '/api/limits/now', 404, 'NOT_FOUND'),
  get('a route that leaves its directory', '/api/tx/..%2f..%2fetc%2fpasswd', 404, 'NOT_FOUND'),
  get('an unknown transaction', `/api/tx/tx_${ULID_ZERO}`, 404, 'NOT_FOUND'),
  get('an id that is none', '/api/tx/tx_nope', 404, 'NOT_FOUND'),
  get('a write route, read', '/api/tx/send', 405, 'METHOD_NOT_ALLOWED'),
  get('a parameter given twice', `/api/gas/estimate?chain_id=1&chain_id=${BASE}`),
  get('a missing parameter', '/api/gas/estimate'),
  get('an unknown parameter', '/api/gas/estimate?chain_id=1&x=1'),
  get('a chain id that is no number', '/api/gas/estimate?chain_id=one'),
  get('an unknown chain to read from', '/api/gas/estimate?chain_id=5', 403, 'CHAIN_NOT_ALLOWED'),
  get('a token that is no contract', `/api/wallet/balance?chain_id=${BASE}&token=${ADDRESS}`),
  get('a token that is no address', `/api/wallet/balance?chain_id=${BASE}&token=USDC`),
]

const consoleRows = (subWalletId: string): readonly Row[] => {
  const wanted = {
    name: 'bad',
    sub_wallet_id: subWalletId,
    permission: 'trade',
    daily_limit_usd: '1',
    monthly_limit_usd: '1',
  }
  const keyField = (title: string, name: string, value: unknown): Row =>
    owner(title, 'POST', '/keys', { ...wanted, [name]: value })
  return [
    owner('a key without caps', 'POST', '/keys', { ...wanted, daily_limit_usd: undefined }),
    keyField('a negative cap', 'daily_limit_usd', '-1'),
    keyField('a cap with seven fraction digits', 'daily_limit_usd', '0.0000001'),
    keyField('a cap as a number', 'monthly_limit_usd', 5),
    keyField('a permission that does not exist', 'permission', 'admin'),
    keyField('an empty list of chains', 'allowed_chains', []),
    keyField('a key name with a line break', 'name', 'a\nb'),
    keyField('a key of an unknown kind of field', 'owner', 'me'),
    owner(
      'a key for an unsupported chain',
      'POST',
      '/keys',
      { ...wanted, allowed_chains: [5] },
      400,
      'CHAIN_NOT_SUPPORTED',
    ),
    owner(
      'a key for a wallet that does not exist',
      'POST',
      '/keys',
      { ...wanted, sub_wallet_id: `sw_${ULID_ZERO}` },
      404,
      'NOT_FOUND',
    ),
    owner('a wallet without a name', 'POST', '/wallets', {}),
    owner('a webhook that is no URL', 'POST', '/webhooks', { url: 'somewhere' }),
    owner('a webhook of another scheme', 'POST', '/webhooks', { url: 'file:///etc/passwd' }),
    owner('a page that is too large', 'GET', '/transactions?limit=101', undefined),
    owner('a page of nothing', 'GET', '/keys?limit=0', undefined),
    owner(
      'revoking what is not there',
      'POST',
      `/keys/key_${ULID_ZERO}/revoke`,
      {},
      404,
      'NOT_FOUND',
    ),
  ]
}

export function badRequests({ service }: Stack): readonly Row[] {
  return [...BODIES, ...FIELDS, ...CALLERS, ...ROUTES, ...consoleRows(service.dev().sub_wallet_id)]
}
