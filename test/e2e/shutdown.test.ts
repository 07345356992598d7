import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import type { ChainsFile } from '../../src/config/chains.js'
import { httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'

/** Longer than a process used to be given, shorter than the drain: 10 s. */
const NODE_TAKES_MS = 6_000
const POLL_MS = 50
const POLLS_MAX = 600
const CALLERS = 8
/** The machine does other things as well: of several, one that was quick shows that it can be. */
const HAND_OVERS_MAX = 4
const RETRY_MS = 5
/** Keys that are asked again afterwards. */
const REPEATED = 10
const TO = `0x${randomBytes(20).toString('hex')}`

interface LockFile {
  readonly pid: number
}

/** A node that takes its time over transactions, in front of the sink. */
interface SlowNode {
  readonly url: string
  readonly asked: Promise<void>
  close(): void
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function startSlowNode(sinkPort: number): Promise<SlowNode> {
  let seen = () => {}
  const asked = new Promise<void>((resolve) => {
    seen = resolve
  })
  const server: Server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming)
    if (body.includes('eth_sendRawTransaction')) {
      seen()
      await delay(NODE_TAKES_MS)
    }
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const onward = { host: '127.0.0.1', port: sinkPort, method: 'POST', path: '/', headers }
    request(onward, (answer) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      answer.pipe(response)
    })
      .on('error', () => response.destroy())
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function gone(pid: number): Promise<boolean> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    try {
      process.kill(pid, 0)
    } catch {
      return true
    }
    await delay(POLL_MS)
  }
  return false
}

/** One caller, as the documents ask: the same key until there is an answer. */
async function sendUntilAnswered(
  stack: SinkStack,
  secret: string,
  idempotencyKey: string,
  onRefused: () => void,
): Promise<string> {
  const headers = {
    'x-api-key': secret,
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  }
  const body = JSON.stringify({ chain_id: stack.chainId, to: TO, value: '1' })
  for (;;) {
    const answer = await fetch(`${stack.baseUrl}/api/tx/send`, { method: 'POST', headers, body })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: Error & { cause?: { code?: string } }) => {
        if (error.cause?.code === 'ECONNREFUSED') onRefused()
        return null
      })
    if (answer === null || answer.status >= 500) {
      await delay(RETRY_MS)
      continue
    }
    expect([200, 202], answer.text).toContain(answer.status)
    return String((JSON.parse(answer.text) as { tx_id?: unknown }).tx_id)
  }
}

describe('a service with a supervisor', () => {
  let stack: SinkStack
  let node: SlowNode | null = null
  beforeAll(async () => {
    stack = await startSinkStack({
      ...{ wallets: 4, service: 'dist/src/supervisor/main.js' },
      port: await freePort(),
    })
  })
  afterAll(async () => {
    node?.close()
    await stack?.stop()
  })

  /** Of the wallet service itself, whose supervisor stays. */
  const servicePid = () =>
    (JSON.parse(readFileSync(join(stack.home, 'service', 'service.lock'), 'utf8')) as LockFile).pid

  test('gives way to a new one under load: nobody is refused for a second, and no send is lost or doubled', async () => {
    const sent = new Map<string, { secret: string; txId: string }>()
    let refusedAtMs: number[] = []
    let refusedForMs = Number.POSITIVE_INFINITY
    let going = true
    const callers = Array.from({ length: CALLERS }, async (_, i) => {
      const secret = stack.secrets[i % stack.secrets.length] ?? ''
      while (going) {
        const key = randomUUID()
        const txId = await sendUntilAnswered(stack, secret, key, () =>
          refusedAtMs.push(performance.now()),
        )
        sent.set(key, { secret, txId })
      }
    })
    try {
      for (let turn = 0; turn < HAND_OVERS_MAX && refusedForMs >= 1_000; turn++) {
        const before = servicePid()
        refusedAtMs = []
        await stack.replaceService()
        expect(servicePid()).not.toBe(before)
        expect(await gone(before)).toBe(true)
        const lastedMs = (refusedAtMs.at(-1) ?? 0) - (refusedAtMs[0] ?? 0)
        refusedForMs = Math.min(refusedForMs, lastedMs)
      }
    } finally {
      going = false
    }
    await Promise.all(callers)
    expect(refusedForMs).toBeLessThan(1_000)
    expect(sent.size).toBeGreaterThan(CALLERS)
    // Each key has a transaction of its own, and says the same one again.
    expect(new Set([...sent.values()].map(({ txId }) => txId)).size).toBe(sent.size)
    for (const [key, { secret, txId }] of [...sent].slice(0, REPEATED)) {
      expect(await sendUntilAnswered(stack, secret, key, () => undefined)).toBe(txId)
    }
    // And each wallet has its nonces used up to what was sent, none twice and none beyond.
    for (const secret of stack.secrets) {
      const own = [...sent.values()].filter((one) => one.secret === secret)
      const api = httpClient(stack.baseUrl, { 'x-api-key': secret })
      const nonces = await Promise.all(
        own.map(async ({ txId }) => Number((await api.get(`/api/tx/${txId}`)).json.nonce)),
      )
      expect(nonces.toSorted((a, b) => a - b)).toEqual(own.map((_, nonce) => nonce))
    }
  })

  test('goes on where a new one could not start with the files that are there', async () => {
    const before = servicePid()
    const path = join(stack.home, 'screening.json')
    const supervisor = stack.pids.service
    const services = () =>
      readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').trim().split(' ')
    writeFileSync(path, '{"providers": [')
    process.kill(supervisor, 'SIGHUP')
    // By what is said, since the new one may come and go between two looks.
    await expect
      .poll(() => stack.serviceSaid(), { timeout: 90_000 })
      .toContain('the wallet service was not replaced')
    expect(services()).toEqual([String(before)])
    rmSync(path)
    const api = httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
    expect((await api.get('/api/limits')).status).toBe(200)
  })

  test('told to stop, answers the send that a slow node still holds, refuses new callers, and ends', async () => {
    node = await startSlowNode(stack.sinkPort)
    const path = join(stack.home, 'chains.json')
    const file = JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
    const url = node.url
    const chains = file.chains.map((chain) => ({ ...chain, rpc_urls: [url] }))
    writeFileSync(path, JSON.stringify({ chains }))
    await stack.replaceService()
    const api = httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
    const sending = api.post('/api/tx/send', { chain_id: stack.chainId, to: TO, value: '1' })
    // A send that is refused never gets to the node, and says why below.
    await Promise.race([node.asked, sending])
    const service = servicePid()
    process.kill(stack.pids.service, 'SIGTERM')
    const { status, text } = await sending
    expect([200, 202], text).toContain(status)
    await expect(fetch(`${stack.baseUrl}/healthz`)).rejects.toThrow()
    expect(await gone(service)).toBe(true)
    expect(await gone(stack.pids.service)).toBe(true)
  })
})
