/** For how long a node waits for the owner's answer, over a real link. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ASK_TIMEOUT_MS } from '../../actors/runtime/actor-client.js'
import { freePort } from '../../bench/free-port.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { readTlsFiles } from '../../src/config/tls-files.js'
import { createForwarder, type Forwarder, TIMES } from '../../src/http/forward-to-leader.js'
import { createFrontDoor } from '../../src/http/front-door.js'
import { createApp } from '../../src/http/uws.js'
import { LinkAgent } from '../../src/link/link-agent.js'

const HOST = '127.0.0.1'
const BOTH = { usage: 'serverAuth,clientAuth', names: 'IP:127.0.0.1' } as const
const SLOW = { timeout: 20_000 }
/** Looks at once, and again and again. */
const IMPATIENT = { connectMs: 20_000, probeMs: 10, answerMs: 60_000, silentMs: 1_000 }

let directory: string
let leader: Server
let agent: LinkAgent
/** Paths of what the owner was asked. */
let seen: string[]
/** Of those that it will not answer, how many have gone. */
let gone: number
let answer: (path: string, response: ServerResponse) => void

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-slow-'))
  const authority = makeAuthority(directory, 'nodes')
  const filesOf = (name: string) =>
    readTlsFiles({ ...authority.issue(name, BOTH), authority: authority.certificate })
  seen = []
  gone = 0
  leader = createServer({ ...filesOf('owner'), requestCert: true }, ({ url = '' }, response) => {
    seen.push(url)
    response.on('close', () => {
      if (!response.writableFinished) gone++
    })
    answer(url, response)
  })
  leader.listen(0, HOST)
  await once(leader, 'listening')
  const own = filesOf('node')
  agent = new LinkAgent(() => own)
})
afterEach(async () => {
  agent.destroy()
  leader.closeAllConnections()
  await new Promise((resolve) => leader.close(resolve))
  rmSync(directory, { recursive: true, force: true })
})

/** A write, at a node that passes it on. */
async function asked(times: typeof IMPATIENT): Promise<{ status: number; text: string }> {
  const { port } = leader.address() as { port: number }
  const forwarder: Forwarder = createForwarder({
    ...{ leader: () => ({ epoch: 1, host: HOST, port }), agent, times },
    clientAddress: (peer) => peer,
    report: () => ({ status: 'down', reason: 'follows', standby: true, behind: 0 }),
    log: { warn: () => undefined },
  })
  const door = createFrontDoor(createApp({ adapter: 'auto' }))
  const at = await freePort()
  await door.answerEarly(HOST, at, forwarder.serve)
  const node = await door.open(HOST, at, () => undefined)
  try {
    const answered = await fetch(`http://${HOST}:${at}/a`, { method: 'POST' })
    return { status: answered.status, text: await answered.text() }
  } finally {
    node.close()
  }
}

function ready(response: ServerResponse): void {
  const text = JSON.stringify({ status: 'not_ready', parts: {} })
  response.writeHead(503, { 'content-length': text.length }).end(text)
}

test('an owner that is there may take its time, as it does for those who ask it', async () => {
  let finish = (): void => undefined
  answer = (path, response) => {
    if (path === '/a') {
      finish = () => response.writeHead(200, { 'content-length': 4 }).end('done')
      return
    }
    ready(response)
    if (seen.length === 4) finish()
  }
  expect(await asked(IMPATIENT)).toEqual({ status: 200, text: 'done' })
  expect(seen.slice(0, 4)).toEqual(['/a', '/readyz', '/readyz', '/readyz'])
})

test('no owner is given up before it gives up what it was asked itself', () => {
  expect(TIMES.answerMs).toBeGreaterThan(ASK_TIMEOUT_MS)
})

test.each([
  ['is frozen', false, IMPATIENT],
  ['is there and never answers', true, { ...IMPATIENT, answerMs: 100 }],
])('of an owner that %s the outcome is unknown, and it hears of it', async (_, isThere, times) => {
  answer = (path, response) => {
    if (path === '/readyz' && isThere) ready(response)
  }
  const { status, text } = await asked(times)
  expect([status, JSON.parse(text).error.code]).toEqual([504, 'OUTCOME_UNKNOWN'])
  await expect.poll(() => gone, SLOW).toBe(isThere ? 1 : 2)
})
