import { consoleOperations } from '../../src/api/console-operations.js'
import { operations } from '../../src/api/operations.js'
import type { seededRandom } from '../faults/random.js'

type Random = ReturnType<typeof seededRandom>

/** One request as bytes, and what may become of it. */
export interface MalformedRequest {
  /** What was broken, for the report. */
  readonly kind: string
  readonly bytes: Buffer
  readonly isHead: boolean
  /** The parser drops some heads without a word, and closes; others must be answered. */
  readonly mayBeDropped: boolean
  /** Something that must never be served lies behind it; `X-Request-Id` would tell. */
  readonly hidesAnother: boolean
}

export interface Credentials {
  readonly apiKey: string
  readonly consoleToken: string
}

const ROWS = [...operations, ...consoleOperations]
const WRITES = ROWS.filter(({ method }) => method !== 'GET')
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
/** One of each field that some operation takes, well-formed. */
const FIELDS: Readonly<Record<string, unknown>> = {
  chain_id: 8453,
  to: ADDRESS,
  data: '0x',
  value: '1',
  token_in: ADDRESS,
  token_out: ADDRESS,
  amount_in: '1000000',
  amount: '1000000',
  shares: '1',
  market_id: 'm',
  slippage_bps: 50,
  name: 'x',
  url: 'https://hook.example/',
}
const NASTY: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x',
  '0xg',
  `0x${'f'.repeat(65)}`,
  '٣',
  'null',
  '\u0000',
  '\ud800',
  '\ufeff',
  '𝟙',
  '../../etc/passwd',
  '<script>',
  "' OR 1=1 --",
  '#{7*7}',
  'x'.repeat(300),
  '9'.repeat(400),
  `0x${'0'.repeat(40)}`,
  ADDRESS.toUpperCase(),
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  8453.0000001,
  [],
  [[]],
  {},
  { toString: 'x' },
  { __proto__: { admin: true } },
  ['8453'],
]
const TEXTS: readonly string[] = [
  '',
  '{',
  '}',
  '[]',
  'null',
  '1',
  '"x"',
  '{"chain_id":',
  '{"a":1,}',
  "{'a':1}",
  '{"a":01}',
  '{"a":NaN}',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  '{"a":"\u0001"}',
  '\ufeff{}',
  '{}{}',
  '{}\n{}',
  '{"chain_id":1,"chain_id":2}',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{}}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  `{"${'k'.repeat(10_000)}":1}`,
  `{"a":"${'\\u0000'.repeat(3_000)}"}`,
]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'get', 'G3T']
const PATHS = [
  '/',
  '//',
  '/.',
  '/..',
  '/%00',
  '/%2e%2e/',
  '/api',
  '/api/',
  '/api/tx/%ff',
  '/api/tx/%zz',
  '/api//limits',
  '/api/limits/',
  '/API/limits',
  '/api/limits?',
  '/api/limits?a',
  '/api/limits?chain_id=1&chain_id=2',
  '/api/wallet/balance',
  '/api/wallet/balance?chain_id=x',
  '/api/wallet/balance?token=%00',
  `/api/tx/${'a'.repeat(2_000)}`,
  '/api/tx/tx_%41',
  '/healthz?x=%',
  '/metrics',
  '/mcp',
  '/docs/../api/limits',
]
const HEADERS: readonly string[] = [
  'X-Api-Key: ',
  'X-Api-Key: sk_live_x',
  `X-Api-Key: ${'x'.repeat(2_000)}`,
  'X-Api-Key: \x7f',
  'Authorization: Bearer',
  'Authorization: Bearer a.b.c',
  `Authorization: Bearer ${'a'.repeat(3_000)}`,
  'Authorization: Basic eDp5',
  'Content-Type: text/plain',
  'Content-Type: ',
  'Content-Type: application/jsonx',
  'Idempotency-Key: ',
  `Idempotency-Key: ${'k'.repeat(256)}`,
  'Idempotency-Key: é',
  'X-Request-Id: <script>',
  'Accept: */*;q=x',
  'Expect: 100-continue',
  'Range: bytes=0-',
  'If-None-Match: *',
  'Cookie: a=b;;;=',
  'Host: evil',
  'X-Forwarded-For: 1.1.1.1',
  'X-Http-Method-Override: DELETE',
  'Upgrade: h2c',
  'Connection: upgrade',
]
/** Broken heads: the parser has its own opinion of each, and closes. */
const HEADS: readonly string[] = [
  'GET',
  'GET /',
  'GET / HTTP/9.9\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  '\r\n\r\n',
  '\x00\x01\x02\r\n\r\n',
  'GET /api/limits HTTP/1.1\nHost: a\n\n',
  'GET /api/limits HTTP/1.1\r\nHost a\r\n\r\n',
  'GET /api/limits HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
  'GET  /api/limits HTTP/1.1\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(200)}\r\n`,
]

/** @param id told back by an answer, so that an answer to something hidden is known */
export function malformedRequest(
  random: Random,
  id: number,
  credentials: Credentials,
): MalformedRequest {
  const kind = random.pick(['body', 'body', 'body', 'text', 'path', 'head', 'header', 'framing'])
  if (kind === 'head') {
    const bytes = Buffer.from(random.pick(HEADS), 'latin1')
    return { kind, bytes, isHead: false, mayBeDropped: true, hidesAnother: false }
  }
  const row = random.pick(WRITES)
  const method = kind === 'path' ? random.pick(METHODS) : row.method
  const path =
    kind === 'path'
      ? random.pick(PATHS)
      : row.path.replace(/:\w+/g, () => random.pick(['x', '%00']))
  const body =
    kind === 'text' ? mutatedText(random) : kind === 'path' ? '' : JSON.stringify(mutated(random))
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    `X-Request-Id: outer-${id}`,
    `X-Api-Key: ${credentials.apiKey}`,
    `Authorization: Bearer ${credentials.consoleToken}`,
    'Content-Type: application/json',
    ...(kind === 'header' ? [random.pick(HEADERS)] : []),
  ]
  const isHead = method === 'HEAD'
  // A method or a header value that the parser does not take ends the connection.
  const mayBeDropped = kind === 'path' || kind === 'header' || kind === 'framing'
  if (kind !== 'framing') {
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    const bytes = Buffer.from([...lines, length, '', body].join('\r\n'), 'utf8')
    return { kind, bytes, isHead, mayBeDropped, hidesAnother: false }
  }
  const inner = `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: inner-${id}\r\n\r\n`
  const bytes = Buffer.from([...lines, ''].join('\r\n') + framed(random, body) + inner, 'utf8')
  return { kind, bytes, isHead, mayBeDropped, hidesAnother: true }
}

function mutated(random: Random): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  const names = Object.keys(FIELDS)
  for (let i = 0; i < 1 + random.integer(6); i++) {
    const name = random.pick(names)
    body[name] = FIELDS[name]
  }
  for (let i = 0; i < 1 + random.integer(3); i++) {
    body[random.chance(0.8) ? random.pick(names) : `field_${random.integer(9)}`] =
      random.pick(NASTY)
  }
  return body
}

function mutatedText(random: Random): string {
  const text = random.chance(0.5) ? random.pick(TEXTS) : JSON.stringify(mutated(random))
  if (random.chance(0.5) || text.length === 0) return text
  const at = random.integer(text.length)
  return random.chance(0.5)
    ? text.slice(0, at)
    : `${text.slice(0, at)}${String.fromCharCode(random.integer(256))}${text.slice(at + 1)}`
}

/** A head's last lines and a body, readable as ending in more than one place. */
function framed(random: Random, body: string): string {
  const bytes = Buffer.byteLength(body)
  const chunk = `${bytes.toString(16)}\r\n${body}`
  return random.pick([
    `Content-Length: ${bytes}\r\nContent-Length: 0\r\n\r\n${body}`,
    `Content-Length: 0\r\nContent-Length: ${bytes}\r\n\r\n${body}`,
    `Content-Length: ${bytes}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Transfer-Encoding: xchunked\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Transfer-Encoding: chunked, identity\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}XX0\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}\n0\n\n`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}\r\n0\r\nX: y\r\n\r\n`,
    `Transfer-Encoding:\tchunked\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Content-Length:\r\nContent-Length: ${bytes}\r\n\r\n${body}`,
    `Transfer-Encoding:\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    `Content-Length: +${bytes}\r\n\r\n${body}`,
    `Content-Length: ${bytes}, ${bytes}\r\n\r\n${body}`,
  ])
}
