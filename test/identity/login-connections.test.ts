import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  boundConnections,
  CHECKED_MS,
  SILENT_MS,
} from '../../src/identity-provider/login/connection-places.js'

/** Crowds come from addresses of loopback, which the system has as many of as anybody likes. */

const CROWD = '127.0.0.7'
const HONEST = '127.0.0.9'
const BOUNDS = { ofOneAddressMax: 8, placesMax: 20 }

const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

interface Started {
  readonly port: number
  readonly server: Server
  readonly waiting: ServerResponse[]
}

/** A path `/wait` is answered by the test. */
async function start(
  addressOf: (address: string) => string | null = (it) => it,
  headersTimeout = SILENT_MS,
): Promise<Started> {
  const server = createServer({ headersTimeout, connectionsCheckingInterval: 50 })
  const waiting: ServerResponse[] = []
  boundConnections(server, BOUNDS, ({ remoteAddress = '' }) => addressOf(remoteAddress))
  server.on('request', (request, response) => {
    if (request.url === '/wait') waiting.push(response)
    else response.end('ok')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, server, waiting }
}

interface Caller {
  readonly socket: Socket
  text: string
  isClosed: boolean
}

async function call(port: number, localAddress: string, text = ''): Promise<Caller> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  const caller: Caller = { socket, text: '', isClosed: false }
  socket.on('data', (piece) => {
    caller.text += String(piece)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    caller.isClosed = true
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  if (text !== '') socket.write(text)
  return caller
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

async function crowd(port: number, address: string, size: number, text = ''): Promise<Caller[]> {
  const all: Caller[] = []
  for (let n = 0; n < size; n++) all.push(await call(port, address, text))
  return all
}

const openOf = (callers: readonly Caller[]) => callers.filter(({ isClosed }) => !isClosed).length

describe('a crowd of silent connections', () => {
  test('of one address has its bound of places, and another address is served', async () => {
    const { port } = await start()
    const silent = await crowd(port, CROWD, 60)
    await expect.poll(() => openOf(silent)).toBe(BOUNDS.ofOneAddressMax)
    const honest = await call(port, HONEST, get('/'))
    await expect.poll(() => honest.text).toContain('200 OK')
  })

  test('of many addresses leave a place to the next caller, from its own address and from another', async () => {
    const { port } = await start()
    const silent: Caller[] = []
    for (let n = 20; n < 30; n++) silent.push(...(await crowd(port, `127.0.0.${n}`, 6)))
    await expect.poll(() => openOf(silent)).toBeLessThanOrEqual(BOUNDS.placesMax)
    for (const address of [HONEST, '127.0.0.20']) {
      const honest = await call(port, address, get('/'))
      await expect.poll(() => honest.text).toContain('200 OK')
    }
  })

  test.each([
    ['say nothing', ''],
    ['drip their headers', 'GET / HTTP/1.1\r\nHost:'],
  ])('whose members %s ends within the patience for headers', async (_what, text) => {
    const { port } = await start((address) => address, 300)
    const silent = await crowd(port, CROWD, 5, text)
    await expect.poll(() => openOf(silent)).toBe(0)
  })

  test('ends for peers that never read what they are told', async () => {
    const { port } = await start((address) => address, 300)
    const silent = await crowd(port, CROWD, 5)
    for (const { socket } of silent) {
      socket.removeAllListeners('data')
      socket.pause()
    }
    const ended = silent.map(({ socket }) => once(socket, 'close'))
    for (const { socket } of silent) socket.read(0)
    await Promise.all(ended)
  })

  test('ends well before twenty seconds at the login itself', () => {
    expect(SILENT_MS + 2 * CHECKED_MS).toBeLessThan(15_000)
  })
})

describe('a request that came whole', () => {
  test('keeps its place before newer silent connections of its address', async () => {
    const { port, waiting } = await start()
    const asked = await call(port, CROWD, get('/wait'))
    await expect.poll(() => waiting.length).toBe(1)
    const silent = await crowd(port, CROWD, 40)
    await expect.poll(() => openOf(silent)).toBe(BOUNDS.ofOneAddressMax - 1)
    waiting[0]?.end('answered')
    await expect.poll(() => asked.text).toContain('answered')
  })

  test('is told apart from one whose body drips, which loses its place', async () => {
    const { port, waiting } = await start()
    const head = 'POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1'
    const dripping = await call(port, CROWD, head)
    await expect.poll(() => waiting.length).toBe(1)
    await crowd(port, CROWD, BOUNDS.ofOneAddressMax)
    await expect.poll(() => dripping.isClosed).toBe(true)
  })

  test('and all others of its address at work: the newest is refused, and none of them', async () => {
    const { port, waiting } = await start()
    const asked = await crowd(port, CROWD, BOUNDS.ofOneAddressMax, get('/wait'))
    await expect.poll(() => waiting.length).toBe(BOUNDS.ofOneAddressMax)
    const late = await call(port, CROWD, get('/wait'))
    await expect.poll(() => late.isClosed).toBe(true)
    expect(openOf(asked)).toBe(BOUNDS.ofOneAddressMax)
  })
})

test('connections of a proxy are many people’s, and bounded all together alone', async () => {
  const { port } = await start(() => null)
  const all = await crowd(port, CROWD, BOUNDS.placesMax)
  const honest = await call(port, HONEST, get('/'))
  await expect.poll(() => honest.text).toContain('200 OK')
  expect(openOf(all)).toBe(BOUNDS.placesMax - 1)
})
