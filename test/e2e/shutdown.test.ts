import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import type { ChainsFile } from '../../src/config/chains.js'
import { httpClient } from '../support/http-client.js'

/** Longer than a process used to be given, shorter than the drain: 10 s. */
const NODE_TAKES_MS = 6_000
const POLL_MS = 50
const POLLS_MAX = 600

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

describe('a service that is told to stop', () => {
  let stack: SinkStack
  let node: SlowNode
  beforeAll(async () => {
    stack = await startSinkStack({ wallets: 1 })
    node = await startSlowNode(stack.sinkPort)
    await stack.restartService(async () => {
      const path = join(stack.home, 'chains.json')
      const file = JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
      const chains = file.chains.map((chain) => ({ ...chain, rpc_urls: [node.url] }))
      writeFileSync(path, JSON.stringify({ chains }))
    })
  })
  afterAll(async () => {
    node?.close()
    await stack?.stop()
  })

  test('answers the send that a slow node still holds, refuses new callers, and ends', async () => {
    const api = httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
    const to = `0x${randomBytes(20).toString('hex')}`
    const sending = api.post('/api/tx/send', { chain_id: stack.chainId, to, value: '1' })
    // A send that is refused never gets to the node, and says why below.
    await Promise.race([node.asked, sending])
    const { service } = stack.pids
    process.kill(service, 'SIGTERM')
    const { status, text } = await sending
    expect([200, 202], text).toContain(status)
    await expect(fetch(`${stack.baseUrl}/healthz`)).rejects.toThrow()
    expect(await gone(service)).toBe(true)
  })
})
