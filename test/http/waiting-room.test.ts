import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { App, HttpRequest, HttpResponse } from '../../src/http/app.js'
import { createFrontDoor } from '../../src/http/front-door.js'
import { createApp } from '../../src/http/uws.js'
import { createWaitingRoom } from '../../src/http/waiting-room.js'
import { freePort } from '../support/ports.js'
import { ADAPTER, type Harness, READ_SECRET, startHarness, TRADE_SECRET } from './harness.js'

const PATIENCE_MS = 20_000
const SEND = { chain_id: 1, to: `0x${'1'.repeat(40)}`, value: '1' }

let harness: Harness | null = null
let predecessor: Server | null = null
afterEach(async () => {
  predecessor?.close()
  predecessor = null
  await harness?.server.close()
  harness = null
})

/** What answers a caller within the test, whatever the machine does. */
function call(port: number, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { ...init, signal: AbortSignal.timeout(20_000) })
}

describe('a service that takes over', () => {
  test('has the port as soon as it is let go, and answers later what came before it served', async () => {
    const port = await freePort()
    predecessor = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
    await once(predecessor, 'listening')
    const early: Promise<Response>[] = []
    harness = await startHarness({
      agent: { send_transaction: () => ({ ok: true, value: { sent: true } }) },
      extraRoutes: [
        {
          method: 'GET',
          path: '/pieces',
          name: 'pieces',
          handle: (exchange) => {
            const stream = exchange.stream({ status: 200, contentType: 'text/plain' })
            stream.write('one ')
            stream.write('two')
            stream.end()
          },
        },
      ],
      async before(door) {
        const bound = door.listenEarly('127.0.0.1', port, PATIENCE_MS)
        predecessor?.close()
        await bound
        const headers = { 'x-api-key': TRADE_SECRET, 'content-type': 'application/json' }
        early.push(
          call(port, '/api/limits?x=%20', { headers: { 'x-api-key': READ_SECRET } }),
          call(port, '/api/tx/send', { method: 'POST', headers, body: JSON.stringify(SEND) }),
          call(port, '/nowhere'),
          call(port, '/pieces'),
          call(port, '/healthz', { method: 'HEAD' }),
        )
        expect((await call(port, '/healthz')).status).toBe(200)
        const ready = await call(port, '/readyz')
        expect([ready.status, (await ready.json()) as unknown]).toEqual([
          503,
          { status: 'not_ready', draining: false, parts: {} },
        ])
      },
      port,
    })
    const [read, sent, nowhere, pieces] = await Promise.all(early)
    expect(read?.status).toBe(400)
    expect(sent?.headers.get('ratelimit')).not.toBeNull()
    expect([sent?.status, await sent?.json()]).toEqual([200, { sent: true }])
    expect(nowhere?.status).toBe(404)
    expect(await pieces?.text()).toBe('one two')
    // What comes from now on does not wait, on any path.
    expect((await call(port, '/nowhere')).status).toBe(404)
    expect((await call(port, '/readyz')).status).toBe(200)
  })

  test('gives up a port that is not let go in time', async () => {
    const port = await freePort()
    predecessor = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
    await once(predecessor, 'listening')
    const door = createFrontDoor(createApp({ adapter: ADAPTER }))
    await expect(door.listenEarly('127.0.0.1', port, 50)).rejects.toThrow(/is the port taken/)
  })

  test('refuses what is more than it can hold, with a time to come back', async () => {
    const door = createFrontDoor(createApp({ adapter: ADAPTER }), { heldMax: 2 })
    const port = await freePort()
    await door.listenEarly('127.0.0.1', port, PATIENCE_MS)
    const calls = Array.from({ length: 3 }, () => call(port, '/any'))
    const refused = await Promise.race(calls)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const requestId = refused.headers.get('x-request-id')
    expect(requestId).toMatch(/^[0-9a-f]{32}$/)
    expect(await refused.json()).toMatchObject({
      error: { code: 'OVERLOADED', request_id: requestId },
    })
    const listener = await door.open('127.0.0.1', port, (app) =>
      app.any('/*', (response) => response.end('served', true)),
    )
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 200, 503])
    listener.close()
  })

  test('answers what it held as soon as it is to answer anything, and serves later', async () => {
    const door = createFrontDoor(createApp({ adapter: ADAPTER }), { heldMax: 1 })
    const port = await freePort()
    await door.listenEarly('127.0.0.1', port, PATIENCE_MS)
    const calls = Array.from({ length: 2 }, () => call(port, '/any'))
    // There is no more room, so the other one is held.
    expect((await Promise.race(calls)).status).toBe(503)
    await door.answerEarly('127.0.0.1', port, (response) => response.end('waits', true))
    const answers = await Promise.all(calls)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 503])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(texts).toContain('waits')
    const listener = await door.open('127.0.0.1', port, (app) =>
      app.any('/*', (response) => response.end('served', true)),
    )
    expect(await (await call(port, '/any')).text()).toBe('served')
    listener.close()
  })

  const served = (app: App) => app.any('/*', (response) => response.end('served', true))

  /** With room for one. */
  async function smallDoor() {
    const door = createFrontDoor(createApp({ adapter: ADAPTER }), { heldMax: 1, bytesMax: 1_000 })
    const port = await freePort()
    await door.listenEarly('127.0.0.1', port, PATIENCE_MS)
    return { door, port }
  }

  /** A connection that has sent that much. */
  async function asked(port: number, text: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await new Promise<void>((resolve) => socket.write(text, () => resolve()))
    return socket
  }

  /** Resolves when the place is taken; one that it takes itself it gives up. */
  async function isFull(port: number): Promise<'full'> {
    for (;;) {
      const signal = AbortSignal.timeout(1_000)
      const probe = await fetch(`http://127.0.0.1:${port}/probe`, { signal }).catch(() => null)
      if (probe?.status === 503) return 'full'
    }
  }

  test('holds nothing of callers that went away before their request was whole', async () => {
    const { door, port } = await smallDoor()
    const socket = await asked(port, 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf')
    await isFull(port)
    socket.destroy()
    // The place is free as soon as the end of that connection is read; what takes it is answered.
    await expect
      .poll(async () => await Promise.race([call(port, '/b'), delay(500, null)]))
      .toBe(null)
    const listener = await door.open('127.0.0.1', port, served)
    listener.close()
  })

  test('refuses a body for which there is no room, and has all of its room after that', async () => {
    const { door, port } = await smallDoor()
    const tooLong = await call(port, '/a', { method: 'POST', body: 'x'.repeat(1_001) })
    expect(tooLong.status).toBe(503)
    const held = await asked(
      port,
      `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n${'x'.repeat(900)}`,
    )
    const answered = once(held, 'data')
    expect(await Promise.race([answered.then(String), isFull(port)])).toBe('full')
    const listener = await door.open('127.0.0.1', port, served)
    expect(String(await answered)).toMatch(/^HTTP\/1.1 200 /)
    held.destroy()
    listener.close()
  })

  test('ends a stream that its caller has left', async () => {
    const { door, port } = await smallDoor()
    const caller = await asked(port, 'GET /stream HTTP/1.1\r\nHost: a\r\n\r\n')
    await isFull(port)
    let ended = false
    const listener = await door.open('127.0.0.1', port, (app) =>
      app.any('/*', (response) => {
        response.onAborted(() => {
          ended = true
        })
        response.write('first')
      }),
    )
    await once(caller, 'data')
    caller.destroy()
    await expect.poll(() => ended).toBe(true)
    listener.close()
  })

  test('lets nobody wait behind streams, which may go on for hours', async () => {
    const door = createFrontDoor(createApp({ adapter: ADAPTER }))
    const port = await freePort()
    await door.listenEarly('127.0.0.1', port, PATIENCE_MS)
    // More than are sent on at once. In order, so that the last one is behind all of them.
    const following = await Promise.all(
      Array.from({ length: 80 }, () => asked(port, 'GET /stream HTTP/1.1\r\nHost: a\r\n\r\n')),
    )
    await expect.poll(async () => (await call(port, '/healthz')).status).toBe(200)
    const begun = following.map((socket) => once(socket, 'data'))
    const last = call(port, '/last')
    const listener = await door.open('127.0.0.1', port, (app) =>
      app.any('/*', (response, request) => {
        response.onAborted(() => undefined)
        if (request.getUrl() === '/stream') response.write('first')
        else response.end('served', true)
      }),
    )
    expect(await (await last).text()).toBe('served')
    await Promise.all(begun)
    for (const socket of following) socket.destroy()
    listener.close()
  })

  test.each([
    ['a header', 'GET /a HTTP/1.1\r\nHost: a\r\nX-Name: a\u010ab\r\n\r\n'],
    ['a path', 'GET /\u65e5\u672c HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method', 'G{T /a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('is not ended by %s that cannot be sent on', async (_what, request) => {
    const { door, port } = await smallDoor()
    const caller = connect(port, '127.0.0.1')
    const answered = once(caller, 'data')
    const closed = once(caller, 'close')
    caller.write(request)
    // Held, or answered at once by an adapter that takes nothing of the kind.
    await Promise.race([answered, closed, isFull(port)])
    const listener = await door.open('127.0.0.1', port, served)
    expect(String(await Promise.race([answered, closed.then(() => 'closed')]))).toMatch(
      /^(HTTP\/1\.1 [24]|closed)/,
    )
    expect(await (await call(port, '/next')).text()).toBe('served')
    caller.destroy()
    listener.close()
  })

  test('writes no more to a caller that takes nothing, until it takes again', async () => {
    let tell = (_text: string): void => undefined
    const streaming = createHttpServer((request, response) => {
      if (request.url !== '/stream') {
        response.end()
        return
      }
      response.write('first')
      tell = (text) => response.end(text)
    }).listen(0, '127.0.0.1')
    await once(streaming, 'listening')
    const { port } = streaming.address() as AddressInfo
    const slow = slowCaller()
    const room = createWaitingRoom()
    room.serve(slow.response, GET)
    room.open('127.0.0.1', port)
    await expect.poll(() => slow.written).toEqual(['first'])
    tell('second')
    // What was sent before this answer would have been written by now.
    expect((await call(port, '/')).status).toBe(200)
    expect(slow.written).toEqual(['first'])
    slow.takeAgain()
    await expect.poll(() => slow.written).toEqual(['first', 'second'])
    streaming.closeAllConnections()
    streaming.close()
  })
})

const GET: HttpRequest = {
  getMethod: () => 'GET',
  getUrl: () => '/stream',
  forEach: (take) => take('host', 'a'),
  getParameter: () => '',
  getQuery: () => '',
}

/** Whoever has asked, and takes nothing of what it is sent. */
function slowCaller() {
  const written: string[] = []
  let takeAgain = (): boolean => true
  const response: HttpResponse = {
    writeStatus: () => response,
    writeHeader: () => response,
    write(chunk) {
      written.push(Buffer.from(chunk).toString())
      return false
    },
    onWritable(take) {
      takeAgain = take
    },
    end: () => undefined,
    endWithoutBody: () => undefined,
    close: () => undefined,
    cork: (work) => work(),
    onAborted: () => undefined,
    onData: (take) => take(new ArrayBuffer(0), true),
    getRemoteAddressAsText: () => new ArrayBuffer(0),
  }
  return { response, written, takeAgain: () => takeAgain() }
}
