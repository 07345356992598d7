import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrames, writeFrame } from '../../src/quorum-protocol/frames.js'
import { USER_SIDE } from '../../src/quorum-protocol/methods/user-side.js'
import { type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'

const ANSWER_BYTES = 512 * 1024
const CALLS = 8
/** What one connection may have unanswered; its answers are far beyond what sockets hold. */
const ROUNDS = 24

let directory: string
let server: SocketServer
let handled = 0
const sockets: Socket[] = []

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-unread-'))
  handled = 0
  server = await serveSocket({
    path: join(directory, 'peer.sock'),
    methods: USER_SIDE,
    handlers: {
      'grant-get': () => {
        handled++
        return Buffer.alloc(ANSWER_BYTES)
      },
    },
    onFault: () => {},
  })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

async function connected(): Promise<Socket> {
  const socket = createConnection(join(directory, 'peer.sock'))
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

test('a peer that reads no answers is answered no further, until it has read them', async () => {
  const [greedy, other] = [await connected(), await connected()]
  const heard: (() => void)[] = []
  readFrames(
    other,
    () => heard.shift()?.(),
    () => {},
  )
  /** By then the server has read what the other connection had sent before, as far as it wants to. */
  const turns = async () => {
    for (let n = 0; n < 4; n++) {
      const answered = new Promise<void>((resolve) => heard.push(resolve))
      writeFrame(other, [n, 'ping', []])
      await answered
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (let n = 0; n < CALLS; n++) writeFrame(greedy, [round * CALLS + n, 'grant-get', []])
    await turns()
  }
  expect(handled).toBeLessThan((ROUNDS * CALLS) / 4)

  let answers = 0
  const all = new Promise<void>((resolve, reject) => {
    const count = () => {
      if (++answers === ROUNDS * CALLS) resolve()
    }
    readFrames(greedy, count, reject)
    greedy.once('close', () => reject(new Error('the connection was ended')))
  })
  await all
  expect(handled).toBe(ROUNDS * CALLS)
})
