import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { consoleTokenOf, type Harness, startHarness } from './harness.js'

/** Two callers on addresses of their own, and a real proxy that adds to `X-Forwarded-For` whom it has. */
const FLOODER = '127.0.0.2'
const USER = '127.0.0.3'
const PROXY = '127.0.0.1'
const BURST = 5

let harness: Harness
let proxy: Server | undefined
afterEach(async () => {
  await harness.server.close()
  proxy?.closeAllConnections()
  proxy?.close()
})

interface Heard {
  readonly status: number
}

/** @param from the caller's own address; `port` is whom it connects to */
function call(
  from: string,
  port: number,
  headers: Readonly<Record<string, string | string[]>>,
  path = '/api/v1/agent/me',
): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: PROXY, port, path, localAddress: from, headers, agent: false },
      (answer) => {
        answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0 }))
      },
    )
    asked.on('error', reject).end()
  })
}

/** @returns its port */
async function startProxy(): Promise<number> {
  const started = createServer((incoming, outgoing) => {
    const before = incoming.headers['x-forwarded-for']
    const peer = incoming.socket.remoteAddress ?? ''
    const chain = before === undefined ? peer : `${String(before)}, ${peer}`
    const onwards = request(
      {
        ...{ host: PROXY, port: harness.port, path: incoming.url, method: incoming.method },
        ...{ headers: { ...incoming.headers, 'x-forwarded-for': chain }, agent: false },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onwards.on('error', () => outgoing.destroy())
    incoming.pipe(onwards)
  })
  proxy = started
  await new Promise<void>((resolve) => started.listen(0, PROXY, resolve))
  return (started.address() as AddressInfo).port
}

async function start(trustedProxies?: string): Promise<number> {
  const failurePolicy = { name: 'failures', refillPerSecond: 0.001, burst: BURST }
  harness = await startHarness({
    failurePolicy,
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
  })
  return startProxy()
}

const tokenOf = (isSigned: boolean) => ({
  authorization: `Bearer ${consoleTokenOf('user_1', isSigned)}`,
})

/** Tokens that do not verify, until they are refused unread. */
async function flood(
  port: number,
  headersOf: (at: number) => Readonly<Record<string, string | string[]>> = () => ({}),
): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let at = 0; at < BURST + 2; at++) {
    const { status } = await call(FLOODER, port, { ...tokenOf(false), ...headersOf(at) })
    statuses.push(status)
  }
  return statuses
}

const FLOODED = [...Array<number>(BURST).fill(401), 429, 429]

test('a flood through a proxy that is trusted leaves its other callers to sign in', async () => {
  const port = await start(PROXY)
  expect(await flood(port)).toEqual(FLOODED)
  expect((await call(USER, port, tokenOf(true))).status).toBe(200)
})

test('without a setting all callers of a proxy are one, and the log says what to do', async () => {
  const port = await start()
  expect(await flood(port)).toEqual(FLOODED)
  expect((await call(USER, port, tokenOf(true))).status).toBe(429)
  const said = harness.logged.filter(({ msg }) => String(msg).includes('TRUSTED_PROXIES'))
  expect(said).toHaveLength(1)
})

test('what a caller says of itself is passed over, in the same header or in one before', async () => {
  const port = await start(PROXY)
  const claims = (at: number) => `198.51.100.${at}`
  expect(await flood(port, (at) => ({ 'x-forwarded-for': claims(at) }))).toEqual(FLOODED)
  expect((await call(USER, port, tokenOf(true))).status).toBe(200)
})

test('of headers that come apart the last is the proxy’s', async () => {
  await start(PROXY)
  const statuses: number[] = []
  for (let at = 0; at < BURST + 2; at++) {
    // From the address of the proxy, as one that adds a header instead of an entry.
    const headers = { 'x-forwarded-for': [`198.51.100.${at}`, FLOODER] }
    statuses.push((await call(PROXY, harness.port, { ...tokenOf(false), ...headers })).status)
  }
  expect(statuses).toEqual(FLOODED)
})

test('who reaches the service past the proxy is believed nothing', async () => {
  await start(PROXY)
  const statuses = await flood(harness.port, (at) => ({ 'x-forwarded-for': `198.51.100.${at}` }))
  expect(statuses).toEqual(FLOODED)
})

test('keys that fail are counted by the same address', async () => {
  const port = await start(PROXY)
  const wrong = { 'x-api-key': `sk_test_${'W'.repeat(32)}` }
  const statuses: number[] = []
  for (let at = 0; at < BURST + 2; at++) {
    statuses.push((await call(FLOODER, port, wrong, '/api/limits')).status)
  }
  expect(statuses).toEqual(FLOODED)
  expect((await call(USER, port, wrong, '/api/limits')).status).toBe(401)
})
