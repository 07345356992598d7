import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CALLS_IN_FLIGHT_MAX } from '../../src/quorum-protocol/call-classes.js'
import { connectSocket, type SocketClient } from '../../src/quorum-protocol/client.js'
import { createConsoleQueue } from '../../src/quorum-protocol/console-queue.js'
import { CALL_TIMEOUT_MS } from '../../src/quorum-protocol/limits.js'
import { USER_SIDE } from '../../src/quorum-protocol/methods/user-side.js'
import { type Handlers, type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'

let directory: string
let server: SocketServer | null = null
let client: SocketClient | null = null
/** Whether the connection of this test was lost. */
let lost: () => boolean = () => false

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-window-'))
})
afterEach(async () => {
  client?.close()
  await server?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function connect(handlers: Handlers): Promise<SocketClient> {
  const path = join(directory, 'peer.sock')
  server = await serveSocket({ path, methods: USER_SIDE, handlers, onFault: () => {} })
  let isLost = false
  lost = () => isLost
  return new Promise((resolve) => {
    const connecting = connectSocket({
      endpoint: { path },
      peer: 'peer',
      onConnect: () => resolve(connecting),
      onDisconnect: () => {
        isLost = true
      },
    })
    client = connecting
  })
}

/** Handlers that answer when they are told to. */
function held() {
  const releases: (() => void)[] = []
  return {
    handler: () => new Promise<string>((resolve) => releases.push(() => resolve('late'))),
    releaseAll() {
      for (const release of releases.splice(0)) release()
    },
    releases,
  }
}

const failureOf = (call: Promise<unknown>) => call.then(String, (error: Error) => error.message)

describe('the window of a connection between domains', () => {
  // A call is given up when the test says that its time is over, and not before.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const giveUp = () => void vi.advanceTimersByTime(CALL_TIMEOUT_MS)

  test('console work cannot take the places of signatures', async () => {
    const { handler, releaseAll } = held()
    const peer = await connect({ 'grant-put': handler, approve: () => 'signed' })
    const asked = Array.from({ length: CALLS_IN_FLIGHT_MAX.console }, () =>
      peer.call('grant-put', []),
    )
    await expect(peer.call('keygen-commit', [])).rejects.toMatchObject({ code: 'OVERLOADED' })
    for (let i = 0; i < 100; i++) expect(await peer.call('approve', [])).toBe('signed')
    const letGo = setInterval(releaseAll, 5)
    expect(await Promise.all(asked)).toEqual(Array(CALLS_IN_FLIGHT_MAX.console).fill('late'))
    clearInterval(letGo)
    expect(lost()).toBe(false)
  })

  test('a slow call is given up alone: the others and the connection go on', async () => {
    const slow = held()
    const peer = await connect({ approve: slow.handler, sign: () => 'signed' })
    const givenUp = failureOf(peer.call('approve', []))
    expect(await peer.call('sign', [])).toBe('signed')
    giveUp()
    expect(await givenUp).toBe('peer: timed out')
    // Its answer comes now, and is nobody's.
    slow.releaseAll()
    expect(await peer.call('sign', [])).toBe('signed')
    expect(lost()).toBe(false)
  })

  test('a peer that answers nothing at all is connected to again', async () => {
    const { handler, releaseAll } = held()
    const peer = await connect({ approve: handler, sign: handler })
    const calls = [failureOf(peer.call('approve', [])), failureOf(peer.call('sign', []))]
    giveUp()
    const [first, second] = await Promise.all(calls)
    expect(first).toBe('peer: timed out')
    expect(['peer: timed out', 'peer: connection lost']).toContain(second)
    await expect.poll(lost).toBe(true)
    releaseAll()
  })

  test('slow console work ends no connection, even when nothing else is asked', async () => {
    const { handler, releaseAll } = held()
    const peer = await connect({ 'grant-put': handler, sign: () => 'signed' })
    const givenUp = failureOf(peer.call('grant-put', []))
    giveUp()
    expect(await givenUp).toBe('peer: timed out')
    expect(await peer.call('sign', [])).toBe('signed')
    expect(lost()).toBe(false)
    releaseAll()
  })

  test('console calls given up keep their places until they are answered', async () => {
    const { handler, releases, releaseAll } = held()
    const peer = await connect({ 'grant-put': handler })
    const asked = Array.from({ length: CALLS_IN_FLIGHT_MAX.console }, () =>
      failureOf(peer.call('grant-put', [])),
    )
    giveUp()
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['peer: timed out']))
    await expect(peer.call('grant-put', [])).rejects.toMatchObject({ code: 'OVERLOADED' })
    for (let left = CALLS_IN_FLIGHT_MAX.console; left > 0; ) {
      left -= releases.length
      releaseAll()
      await new Promise(setImmediate)
    }
    const anew = () => {
      const call = failureOf(peer.call('grant-put', []))
      giveUp()
      return call
    }
    await expect.poll(anew).toBe('peer: timed out')
    releaseAll()
  })
})

describe('console work in a domain', () => {
  test('lets what arrived in between come first, after each begun', async () => {
    const order: string[] = []
    const peer = await connect({
      'keygen-commit': () => void order.push('console'),
      approve: () => void order.push('approve'),
    })
    const console = Array.from({ length: 16 }, () => peer.call('keygen-commit', []))
    const approve = peer.call('approve', [])
    await Promise.all([...console, approve])
    // All frames came together: without its lane the console work would all be done by then.
    expect(order.indexOf('approve')).toBeLessThanOrEqual(1)
  })

  test('beyond its bound nothing is begun', async () => {
    const lane = createConsoleQueue({ waitingMax: 2 })
    let began = 0
    const calls = Array.from({ length: 5 }, () =>
      lane.run(() => ++began).catch((error: { code: string }) => error.code),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter((answer) => answer === 'OVERLOADED')).toHaveLength(3)
    expect(began).toBe(2)
  })

  test('what never ends loses its place', async () => {
    const lane = createConsoleQueue({ workMsMax: 20 })
    const stuck = Array.from({ length: 4 }, () =>
      lane.run(() => new Promise(() => {})).catch((error: { code: string }) => error.code),
    )
    expect(await lane.run(() => 'done')).toBe('done')
    expect(await Promise.all(stuck)).toEqual(Array(4).fill('INTERNAL'))
  })

  test('a handler that throws at once is answered, and the next begins', async () => {
    const lane = createConsoleQueue()
    const failing = lane.run(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await lane.run(() => 'done')).toBe('done')
  })
})
