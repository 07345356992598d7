import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Front, layFront } from '../../scripts/dev/front.js'

/** One address in front of two listeners, each of which sends its name to every connection. */
let listeners: readonly Listener[]
let front: Front

interface Listener {
  readonly port: number
  readonly server: Server
  /** What the next checks find. */
  answers: boolean
  checks: number
}

async function listen(name: string): Promise<Listener> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).write(name)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, server, answers: true, checks: 0 }
}

beforeEach(async () => {
  listeners = [await listen('first'), await listen('second')]
  const ports = listeners.map(({ port }) => port)
  front = await layFront(ports, 0, (at) => ({
    async answers() {
      const listener = listeners.find(({ port }) => port === at)
      if (listener === undefined) throw new Error('nobody listens there')
      listener.checks++
      return listener.answers
    },
    close: () => undefined,
  }))
})
afterEach(async () => {
  await front.close()
  for (const { server } of listeners) server.close()
})

/** @returns the name of who answers; '' where the connection ends without one */
async function reached(): Promise<{ socket: Socket; name: string }> {
  const socket = connect(front.port, '127.0.0.1').on('error', () => undefined)
  const said = once(socket, 'data').then(([name]) => String(name))
  const name = await Promise.race([said, once(socket, 'close').then(() => '')])
  return { socket, name }
}

/** Until each was checked once more, from the start to the end of a check. */
async function checked(): Promise<void> {
  const before = listeners.map(({ checks }) => checks + 2)
  const isDone = () => listeners.every(({ checks }, index) => checks >= (before[index] ?? 0))
  await expect.poll(isDone, { timeout: 10_000 }).toBe(true)
}

test('leads to the first that answers, and cuts off what was passed to one that no longer does', async () => {
  const { socket, name } = await reached()
  expect(name).toBe('first')
  const [first] = listeners
  const cut = once(socket, 'close')
  Object.assign(first ?? {}, { answers: false })
  await cut
  const next = await reached()
  expect(next.name).toBe('second')
  Object.assign(first ?? {}, { answers: true })
  await checked()
  expect((await reached()).name).toBe('first')
  // What the second was passed goes on.
  expect(next.socket.destroyed).toBe(false)
})

test('leads to the next at once where the first refuses a connection', async () => {
  await checked()
  const [first] = listeners
  first?.server.close()
  expect((await reached()).name).toBe('')
  expect((await reached()).name).toBe('second')
})

test('tries the first where none answers', async () => {
  for (const listener of listeners) listener.answers = false
  await checked()
  // A check may cut it off before it has heard.
  await expect.poll(async () => (await reached()).name).toBe('first')
})

test('refuses a port that is taken', async () => {
  const [first] = listeners
  await expect(
    layFront([1], first?.port ?? 0, () => ({ answers: async () => true, close: () => undefined })),
  ).rejects.toThrow('EADDRINUSE')
})
