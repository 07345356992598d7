import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Harness, startHarness, TRADE_SECRET } from './harness.js'

/**
 * Requests that a gateway may end elsewhere than we do. What lies behind one of them, as its sender
 * wants it read, must never be served: not in the same piece of data, not in a later one.
 */
const KEY = `X-Api-Key: ${TRADE_SECRET}\r\n`
const BODY = JSON.stringify({ chain_id: 1, to: `0x${'ab'.repeat(20)}`, value: '1' })
const HEAD = `POST /api/tx/send HTTP/1.1\r\nHost: a\r\n${KEY}Content-Type: application/json\r\n`
const READ_HEAD = `GET /api/gas/estimate?chain_id=1 HTTP/1.1\r\nHost: a\r\n${KEY}`
const INNER = `GET /api/limits HTTP/1.1\r\nHost: a\r\n${KEY}\r\n`
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`
const LENGTH = `Content-Length: ${BODY.length}\r\n`

/** Refused whatever follows. */
const AMBIGUOUS: readonly [what: string, request: string][] = [
  ['two lengths, the first of the body', `${HEAD}${LENGTH}Content-Length: 0\r\n\r\n${BODY}`],
  ['two lengths, the first none', `${HEAD}Content-Length: 0\r\n${LENGTH}\r\n${BODY}`],
  ['one length twice', `${HEAD}${LENGTH}${LENGTH}\r\n${BODY}`],
  ['a length and chunks', `${HEAD}${LENGTH}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
  ['chunks and a length', `${HEAD}Transfer-Encoding: chunked\r\n${LENGTH}\r\n${CHUNKS}`],
  ['an encoding nobody knows', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`],
  ['identity', `${HEAD}Transfer-Encoding: identity\r\n\r\n${CHUNKS}`],
  ['gzip before chunked', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`],
  ['chunked before identity', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKS}`],
  ['a quoted encoding', `${HEAD}Transfer-Encoding: "chunked"\r\n\r\n${CHUNKS}`],
  [
    'two encodings',
    `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${CHUNKS}`,
  ],
  ['chunked twice', `${HEAD}${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n${CHUNKS}`],
  ['an empty length before one', `${HEAD}Content-Length:\r\n${LENGTH}\r\n${BODY}`],
  ['an empty length alone', `${HEAD}Content-Length:\r\n\r\n`],
  ['an empty encoding', `${HEAD}Transfer-Encoding:\r\n\r\n`],
  [
    'an empty encoding before chunks',
    `${HEAD}Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
  ],
  [
    'a read with an empty length before one',
    `${READ_HEAD}Content-Length:\r\nContent-Length: 5\r\n\r\n`,
  ],
  ['a read with two lengths', `${READ_HEAD}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`],
  ['a read with an encoding', `${READ_HEAD}Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n`],
]

/** The native parser drops these itself, without a word. */
const DROPPED = new Set(['a length and chunks', 'chunks and a length'])

const size = BODY.length.toString(16)
/** Chunks that the parser takes though other parsers end them elsewhere. */
const CHUNKED: readonly [what: string, request: string][] = [
  ['well-formed chunks', CHUNKS],
  ['other bytes after a chunk', `${size}\r\n${BODY}XX0\r\n\r\n`],
  ['bare line feeds', `${size}\n${BODY}\n0\n\n`],
  ['a chunk extension', `${size};a="\r\nb"\r\n${BODY}\r\n0\r\n\r\n`],
  ['space after the size', `${size} \r\n${BODY}\r\n0\r\n\r\n`],
  ['trailers', `${size}\r\n${BODY}\r\n0\r\nContent-Length: 9\r\n\r\n`],
  ['a size with zeros before it', `0000000000${size}\r\n${BODY}\r\n0\r\n\r\n`],
].map(([what, chunks]) => [what ?? '', `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks}`])

let harness: Harness
let innerServed = 0
beforeAll(async () => {
  harness = await startHarness({
    agent: {
      get_limits: () => {
        innerServed++
        return { ok: true, value: { inner: true } }
      },
    },
  })
})
afterAll(() => harness.server.close())
beforeEach(() => {
  innerServed = 0
})
afterEach(async () => {
  // The server is as well as before.
  expect((await fetch(`${harness.baseUrl}/healthz`)).status).toBe(200)
})

/** Writes each piece once the one before is out; until the server closes. */
function received(pieces: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(harness.port, '127.0.0.1').setNoDelay(true)
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    // A reset ends it as well as a close.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    socket.on('connect', async () => {
      for (const piece of pieces) {
        await new Promise((sent) => socket.write(piece, sent))
        for (let i = 0; i < 20; i++) await turn()
      }
    })
  })
}

describe.each(AMBIGUOUS)('a request with %s', (what, request) => {
  test('is refused, and its connection closed', async () => {
    const text = await received([request])
    if (DROPPED.has(what) && harness.server.adapter === 'uWebSockets.js') {
      expect(text).toBe('')
      return
    }
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain('Connection: close')
    expect(text).toContain('"code":"INVALID_REQUEST"')
    expect(text).not.toContain('"operation"')
  })
})

describe.each([...AMBIGUOUS, ...CHUNKED])('what follows %s', (_what, request) => {
  test('is not served, in one piece with it', async () => {
    expect(await received([request + INNER])).not.toContain('inner')
    expect(innerServed).toBe(0)
  })

  test('is not served, in a piece of its own', async () => {
    expect(await received([request, INNER])).not.toContain('inner')
    expect(innerServed).toBe(0)
  })
})

test('well-formed chunks alone are answered, and their connection closed', async () => {
  const text = await received([`${HEAD}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`])
  expect(text).toMatch(/^HTTP\/1\.1 200 /)
  expect(text).toContain('Connection: close')
})

test('a request of one length is followed by the next, as ever', async () => {
  const text = await received([
    `${READ_HEAD}\r\n${INNER}GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n`,
  ])
  expect(text).toContain('inner')
})
