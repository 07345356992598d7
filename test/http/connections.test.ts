import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { CATALOGUE } from '../../src/errors/catalogue.js'
import { readBodyHead, readBodyLater } from '../../src/http/body.js'
import type { ExtraRoute } from '../../src/http/routes.js'
import {
  exchangeRaw,
  type Harness,
  type HarnessOptions,
  readError,
  startHarness,
  TRADE_SECRET,
} from './harness.js'

const KEY = `X-Api-Key: ${TRADE_SECRET}\r\n`
const JSON_TYPE = 'Content-Type: application/json\r\n'
const BODY = JSON.stringify({ chain_id: 1, to: `0x${'ab'.repeat(20)}`, value: '1' })
const POST_HEAD = `POST /api/tx/send HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_TYPE}`
const GET_LIMITS = `GET /api/limits HTTP/1.1\r\nHost: a\r\n${KEY}\r\n`

/** More than the system's own buffers of a connection hold. */
const STREAMED_BYTES_MAX = 64 * 1024 * 1024

let harness: Harness

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await startHarness(options)
}

afterEach(async () => {
  await harness.server.close()
})

async function expectAlive(): Promise<void> {
  const response = await fetch(`${harness.baseUrl}/healthz`)
  expect(response.status).toBe(200)
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { interval: 5 }).toBe(true)
}

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => m[1])

test('a chunked body is read whole', async () => {
  await start()
  const parts = [
    `${POST_HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    chunk(BODY.slice(0, 10)),
    chunk(BODY.slice(10)),
    '0\r\n\r\n',
  ]
  expect(await exchangeRaw(harness.port, parts, /operation/)).toContain('200 OK')
})

test('a body that comes byte by byte is read whole', async () => {
  await start()
  const socket = connect(harness.port, '127.0.0.1').setNoDelay(true)
  let received = ''
  socket.on('data', (data) => {
    received += data.toString()
  })
  socket.write(`${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n`)
  for (const char of BODY) {
    socket.write(char)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => received.includes('200 OK'))
  socket.destroy()
})

test('a chunked body over the limit gets 413, and its connection closes', async () => {
  await start()
  const parts = [
    `${POST_HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    ...Array.from({ length: 6 }, () => chunk('x'.repeat(60_000))),
    '0\r\n\r\n',
  ]
  const received = await exchangeRaw(harness.port, parts, /request_id/)
  expect(received).toContain('PAYLOAD_TOO_LARGE')
  expect(received).toContain('Connection: close')
  await expectAlive()
})

test('a chunked body that never ends gets 413 and is cut off', async () => {
  await start()
  const parts = [
    `${POST_HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    ...Array.from({ length: 40 }, () => chunk('x'.repeat(60_000))),
  ]
  const received = await exchangeRaw(harness.port, parts, /request_id/)
  // The close may overtake the answer when the caller still writes; what must not happen is 200.
  expect(statuses(received)).not.toContain('200')
  await until(() => harness.server.inFlight === 0)
  await expectAlive()
})

test('a declared body over the limit gets 413 before it is sent', async () => {
  await start()
  const parts = [`${POST_HEAD}Content-Length: 300000\r\n\r\n`]
  expect(await exchangeRaw(harness.port, parts, /request_id/)).toContain('413 Content Too Large')
  await until(() => harness.server.inFlight === 0)
})

test('an answer before the body leaves the connection in step', async () => {
  await start()
  const parts = [
    `POST /api/tx/send HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Content-Length: ${BODY.length}\r\n\r\n`,
    BODY,
    GET_LIMITS,
  ]
  expect(statuses(await exchangeRaw(harness.port, parts, /get_limits/))).toEqual(['401', '200'])
})

test('a long body past the rate gets 429 before it comes, and the connection serves on', async () => {
  await start({ ratePolicy: { name: 'key', refillPerSecond: 0.001, burst: 70 } })
  const long = JSON.stringify({ ...JSON.parse(BODY), data: `0x${'ff'.repeat(128_000)}` })
  const head = `${POST_HEAD}Content-Length: ${long.length}\r\n\r\n`
  const socket = connect(harness.port, '127.0.0.1').setNoDelay(true)
  let received = ''
  socket.on('data', (data) => {
    received += data.toString('latin1')
  })
  try {
    socket.write(head + long)
    await until(() => statuses(received).length === 1)
    socket.write(head)
    await until(() => received.includes('RATE_LIMITED'))
    expect(harness.server.inFlight).toBe(0)
    for (let at = 0; at < long.length; at += 60_000) socket.write(long.slice(at, at + 60_000))
    socket.write(`${GET_LIMITS}${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`)
    await until(() => statuses(received).length === 4)
    expect(statuses(received)).toEqual(['200', '429', '200', '200'])
    expect(received.match(/"operation":"\w+"/g)?.slice(-2)).toEqual([
      '"operation":"get_limits"',
      '"operation":"send_transaction"',
    ])
  } finally {
    socket.destroy()
  }
})

test('pipelined requests are answered in order', async () => {
  await start()
  const post = `${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`
  const received = await exchangeRaw(
    harness.port,
    [GET_LIMITS + post + GET_LIMITS],
    /limits[\s\S]*limits/,
  )
  expect([...received.matchAll(/"operation":"(\w+)"/g)].map((m) => m[1])).toEqual([
    'get_limits',
    'send_transaction',
    'get_limits',
  ])
})

test('a caller that leaves in the middle of a body frees its place', async () => {
  await start()
  const socket = connect(harness.port, '127.0.0.1')
  socket.write(`${POST_HEAD}Content-Length: 1000\r\n\r\n{"chain_id":`)
  await until(() => harness.server.inFlight === 1)
  socket.destroy()
  await until(() => harness.server.inFlight === 0)
  expect(harness.last()).toBeNull()
  await expectAlive()
})

test('a caller that leaves while its operation runs is not answered, and nothing breaks', async () => {
  const gate = createGate()
  await start({
    agent: {
      send_transaction: async () => {
        await gate.opened
        return { ok: true, value: {} }
      },
    },
  })
  const socket = connect(harness.port, '127.0.0.1')
  socket.write(`${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`)
  await until(() => harness.last() !== null)
  socket.destroy()
  await expectAlive()
  expect(harness.server.inFlight).toBe(1)
  gate.open()
  await until(() => harness.server.inFlight === 0)
  expect(harness.logged).toEqual([])
  await expectAlive()
})

test('two hundred half requests do not keep others from being served', async () => {
  await start()
  const sockets = Array.from({ length: 200 }, (_, i) => {
    const socket = connect(harness.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      i % 2 === 0 ? 'GET /api/limits HTTP/1.1\r\nHost' : `${POST_HEAD}Content-Length: 99\r\n\r\n{`,
    )
    return socket
  })
  await until(() => harness.server.inFlight === 100)
  expect(await exchangeRaw(harness.port, [GET_LIMITS], /get_limits/)).toContain('200 OK')
  for (const socket of sockets) socket.destroy()
  await until(() => harness.server.inFlight === 0)
})

test.each([
  ['noise', '\x00\x01\x02\r\n\r\n'],
  ['a method nobody knows', `BREW /api/limits HTTP/1.1\r\nHost: a\r\n${KEY}\r\n`],
  [
    'both a length and chunks',
    `${POST_HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a negative length', `${POST_HEAD}Content-Length: -1\r\n\r\n`],
  ['bad chunk framing', `${POST_HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
])('%s is never served as a request', async (_what, text) => {
  await start()
  const received = await exchangeRaw(harness.port, [text], /HTTP\/1\.1/, 300)
  expect(statuses(received)).not.toContain('200')
  expect(harness.last()).toBeNull()
  await expectAlive()
})

test('above the in-flight bound requests get 503 OVERLOADED at once, and later ones pass', async () => {
  const gate = createGate()
  await start({
    inFlightMax: 2,
    agent: {
      get_limits: async () => {
        await gate.opened
        return { ok: true, value: {} }
      },
    },
  })
  const headers = { 'x-api-key': TRADE_SECRET }
  const held = [1, 2].map(() => fetch(`${harness.baseUrl}/api/limits`, { headers }))
  await until(() => harness.server.inFlight === 2)
  const refused = await fetch(`${harness.baseUrl}/api/limits`, { headers })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('ratelimit')).toBe('"in-flight";r=0;t=1')
  expect(refused.headers.get('ratelimit-policy')).toBe('"in-flight";q=2;qu="concurrent-requests"')
  expect((await readError(refused))?.code).toBe('OVERLOADED')
  gate.open()
  for (const response of await Promise.all(held)) expect(response.status).toBe(200)
  expect((await fetch(`${harness.baseUrl}/api/limits`, { headers })).status).toBe(200)
})

test('a stream that its caller does not take is cut off', async () => {
  let written = 0
  let isCutOff = false
  const route: ExtraRoute = {
    method: 'GET',
    path: '/stream',
    name: 'stream',
    handle(exchange) {
      exchange.onAbort(() => {
        isCutOff = true
      })
      const stream = exchange.stream({ status: 200, contentType: 'text/plain' })
      const more = () => {
        if (isCutOff || written >= STREAMED_BYTES_MAX) {
          stream.end()
          return
        }
        stream.write('x'.repeat(65_536))
        written += 65_536
        setImmediate(more)
      }
      more()
    },
  }
  await start({ extraRoutes: [route] })
  const caller = connect(harness.port, '127.0.0.1')
  caller.on('error', () => undefined)
  caller.pause()
  caller.write('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => isCutOff || written >= STREAMED_BYTES_MAX).toBe(true)
  caller.destroy()
  expect(isCutOff).toBe(true)
})

test('a write without a place is refused before its body is read, and the connection goes on', async () => {
  let full = true
  await start({ refusesWrite: ({ keyId }) => full && keyId === 'key_T' })
  const body = JSON.stringify({ ...JSON.parse(BODY), data: `0x${'00'.repeat(60_000)}` })
  const head = `${POST_HEAD}X-Request-Id: over.1\r\nContent-Length: ${body.length}\r\n\r\n`
  const parts = [head, body.slice(0, 70_000), body.slice(70_000), GET_LIMITS]
  const received = await exchangeRaw(harness.port, parts, /HTTP\/1\.1 200[\s\S]*\}/)
  expect(statuses(received)).toEqual(['503', '200'])
  expect(received).toContain('Retry-After: 1')
  const [json = ''] = /\{"error".*/.exec(received) ?? []
  expect(JSON.parse(json.slice(0, json.lastIndexOf('}}') + 2))).toEqual({
    error: {
      code: 'OVERLOADED',
      message: CATALOGUE.OVERLOADED.message,
      details: {},
      request_id: 'over.1',
    },
  })
  full = false
  const later = await exchangeRaw(
    harness.port,
    [`${POST_HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`],
    /HTTP\/1\.1 \d/,
  )
  expect(statuses(later)).toEqual(['200'])
})

test('closing lets the request in flight end and takes no new connection', async () => {
  const gate = createGate()
  await start({
    drainTimeoutMs: 20_000,
    agent: {
      get_limits: async () => {
        await gate.opened
        return { ok: true, value: { done: true } }
      },
    },
  })
  const running = exchangeRaw(harness.port, [GET_LIMITS], /done/)
  await until(() => harness.server.inFlight === 1)
  const closed = harness.server.close()
  await expect(fetch(`${harness.baseUrl}/healthz`)).rejects.toThrow()
  gate.open()
  expect(await closed).toBe(0)
  expect(await running).toContain('Connection: close')
})

test('closing gives up requests that do not end in time, and says how many', async () => {
  const gate = createGate()
  await start({
    drainTimeoutMs: 50,
    agent: {
      get_limits: async () => {
        await gate.opened
        return { ok: true, value: {} }
      },
    },
  })
  const running = exchangeRaw(harness.port, [GET_LIMITS], /HTTP/)
  await until(() => harness.server.inFlight === 1)
  expect(await harness.server.close()).toBe(1)
  gate.open()
  await running
})

test('a port that is taken is an error', async () => {
  await start()
  const other = await startHarness()
  await other.server.close()
  await expect(other.server.listen('127.0.0.1', harness.port)).rejects.toThrow(/cannot listen/)
})

test('extra routes read their body and answer in their own type', async () => {
  await start({
    extraRoutes: [
      {
        method: 'POST',
        path: '/mcp',
        name: 'mcp',
        handle: (exchange, head) => {
          void readBodyLater(exchange, readBodyHead(head), 'any').then((body) => {
            if (!body.ok) exchange.refuse(body.fault)
            else exchange.send({ status: 200, contentType: 'text/plain', body: body.value })
          })
        },
      },
    ],
  })
  const response = await fetch(`${harness.baseUrl}/mcp`, { method: 'POST', body: 'hello' })
  expect(await response.text()).toBe('hello')
  expect(response.headers.get('content-type')).toBe('text/plain')
})
