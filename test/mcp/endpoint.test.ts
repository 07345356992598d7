import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { KEY_POLICY } from '../../src/auth/rate-limit.js'
import { describeTool, toolRows } from '../../src/mcp/tools.js'
import { CHILD_SECRET, READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'
import { modern, PLAIN_HEADERS, postMessage, toolCall } from './message.js'

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const SEND = { chain_id: 1, to: '0x00000000000000000000000000000000000000aa', value: '5' }

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness()
})
afterAll(() => harness.server.close())

describe('who gets in', () => {
  it.each([
    ['no key', { 'x-api-key': '' }, 401, 'UNAUTHENTICATED'],
    ['a malformed key', { 'x-api-key': 'sk_test_x' }, 401, 'UNAUTHENTICATED'],
    [
      'a key of the other environment',
      { 'x-api-key': `sk_live_${'T'.repeat(32)}` },
      401,
      'INVALID_KEY',
    ],
    ['an unknown key', { 'x-api-key': `sk_test_${'N'.repeat(32)}` }, 401, 'INVALID_KEY'],
    ['a foreign page', { origin: 'https://evil.example' }, 403, 'PERMISSION_DENIED'],
    ['an opaque origin', { origin: 'null' }, 403, 'PERMISSION_DENIED'],
    [
      'a name that merely starts like ours',
      { origin: 'http://localhost.evil' },
      403,
      'PERMISSION_DENIED',
    ],
  ])('%s is refused with the error body of REST', async (_who, headers, status, code) => {
    const answer = await postMessage(harness.mcpUrl, LIST, headers)
    expect(answer.status).toBe(status)
    expect(answer.message).toMatchObject({ error: { code, request_id: expect.any(String) } })
    expect(answer.headers.get('www-authenticate')).toBeNull()
  })

  it('a foreign Host is refused before the key is looked at', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(
        harness.mcpUrl,
        { method: 'POST', headers: { ...PLAIN_HEADERS, host: 'evil.example', 'x-api-key': '' } },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      sent.on('error', reject)
      sent.end('{}')
    })
    expect(status).toBe(403)
  })

  it('our own origin passes, on any port', async () => {
    const answer = await postMessage(harness.mcpUrl, LIST, { origin: 'http://localhost:5173' })
    expect(answer.status).toBe(200)
  })

  it.each(['GET', 'DELETE', 'PUT', 'PATCH'])(
    '%s is not a method of the endpoint',
    async (method) => {
      const response = await fetch(harness.mcpUrl, { method, headers: PLAIN_HEADERS })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toContain('POST')
      await response.text()
    },
  )

  it.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ])('%s is a 404 in JSON: no OAuth is on offer', async (path) => {
    const response = await fetch(new URL(path, harness.baseUrl))
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })
})

describe('bounds', () => {
  it('a body above 256 KiB is refused', async () => {
    const answer = await postMessage(
      harness.mcpUrl,
      toolCall('get_limits', { x: 'x'.repeat(300_000) }),
    )
    expect(answer.status).toBe(413)
    expect(answer.message).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } })
  })

  it('another content type is refused', async () => {
    const answer = await postMessage(harness.mcpUrl, LIST, { 'content-type': 'text/plain' })
    expect(answer.status).toBe(415)
  })

  it('a body under a content coding is refused with what is understood', async () => {
    const before = harness.calls.length
    const encoded = { 'content-encoding': 'gzip' }
    const answer = await postMessage(harness.mcpUrl, toolCall('get_limits', {}), encoded)
    expect(answer.status).toBe(415)
    expect(answer.headers.get('accept-encoding')).toBe('identity')
    expect(harness.calls).toHaveLength(before)
  })

  it('a field given twice is refused wherever it is, and nothing is called', async () => {
    const before = harness.calls.length
    const body = JSON.stringify(toolCall('send_transaction', SEND)).replace(
      '"value":"5"',
      '"value":"5","value":"5000000000"',
    )
    const answer = await postMessage(harness.mcpUrl, body)
    expect(answer.status).toBe(400)
    expect(answer.message).toMatchObject({ error: { code: -32600 } })
    expect(harness.calls).toHaveLength(before)
  })

  it('nesting beyond reason is refused', async () => {
    const answer = await postMessage(harness.mcpUrl, '['.repeat(100_000))
    expect(answer.status).toBe(400)
  })

  it.each(['', 'x', '{', 'null', '1', '"x"', '[]', '{}', '[1]', '\u0000'])(
    'the body %j is answered with an error of the protocol',
    async (body) => {
      const answer = await postMessage(harness.mcpUrl, body)
      expect(answer.status).toBe(400)
      expect(answer.message).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
    },
  )

  it('requests above the rate of a key get 429, and each message of a batch counts', async () => {
    const slow = await startMcpHarness({
      policy: { ...KEY_POLICY, burst: 10, refillPerSecond: 0.001 },
    })
    const ping = { jsonrpc: '2.0', method: 'ping' }
    const batch = Array.from({ length: 9 }, (_, id) => ({ ...ping, id }))
    const first = await postMessage(slow.mcpUrl, batch, { 'mcp-protocol-version': '2025-03-26' })
    expect(first.messages.flat()).toHaveLength(9)
    expect((await postMessage(slow.mcpUrl, LIST)).status).toBe(200)
    const refused = await postMessage(slow.mcpUrl, LIST)
    expect(refused.status).toBe(429)
    expect(refused.message).toMatchObject({ error: { code: 'RATE_LIMITED' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const made = await postMessage(slow.mcpUrl, LIST, { 'x-api-key': CHILD_SECRET })
    expect(made.status).toBe(429)
    await slow.server.close()
  })
})

describe('the tool list', () => {
  const tools = toolRows(operations).map(describeTool)

  it('is short enough for an agent to carry: 20 kB with all 17 tools', () => {
    const bytes = Buffer.byteLength(JSON.stringify(tools))
    expect(bytes / tools.length).toBeLessThan(20_480 / 17)
    expect(bytes).toBeLessThan(20_480)
  })

  it('has keys that keys make where the operator says so, as what changes things', async () => {
    expect(tools.map(({ name }) => name)).not.toContain('create_child_key')
    const chosen = await startMcpHarness({ subKeyTool: true })
    const { message } = await postMessage(chosen.mcpUrl, LIST)
    const listed = (message as { result: { tools: typeof tools } }).result.tools
    expect(listed).toHaveLength(18)
    expect(listed.at(-1)).toMatchObject({
      name: 'create_child_key',
      annotations: { readOnlyHint: false, idempotentHint: false },
    })
    await chosen.server.close()
  })

  it('says of each amount in which unit it is', () => {
    for (const { name, inputSchema } of tools) {
      const properties = (inputSchema.properties ?? {}) as Record<string, { description?: string }>
      for (const [field, schema] of Object.entries(properties)) {
        if (!/value|amount|shares/.test(field)) continue
        expect(schema.description, `${name}.${field}`).toMatch(
          /wei|smallest unit|of get_positions/i,
        )
      }
    }
  })

  it('marks writes as destructive and takes an idempotency key with them alone', () => {
    for (const row of toolRows(operations)) {
      const { annotations, inputSchema } = describeTool(row)
      expect(annotations?.readOnlyHint).toBe(!row.movesValue)
      expect(annotations?.destructiveHint).toBe(row.movesValue)
      expect(JSON.stringify(inputSchema).includes('idempotency_key')).toBe(row.movesValue)
    }
  })
})

describe('a call', () => {
  it('that throws answers INTERNAL with nothing of what it threw', async () => {
    const broken = await startMcpHarness({
      handlers: {
        get_limits: () => {
          throw new Error('password=hunter2')
        },
        get_wallet_address: () => Promise.reject(new Error('password=hunter2')),
      },
    })
    for (const name of ['get_limits', 'get_wallet_address']) {
      const plain = await postMessage(broken.mcpUrl, toolCall(name, {}))
      expect(plain.text).toContain('INTERNAL')
      expect(plain.text).not.toContain('hunter2')
    }
    expect(JSON.stringify(broken.logged)).toContain('tool call failed')
    await broken.server.close()
  })

  it('runs to its end when its caller goes away, with its proof key intact', async () => {
    const finished: boolean[] = []
    const atWork: (() => void)[] = []
    const slow = await startMcpHarness({
      handlers: {
        send_transaction: async (context) => {
          await new Promise<void>((resolve) => atWork.push(resolve))
          finished.push(context.proofKey.every((byte) => byte === 7))
          return { ok: true, value: {} }
        },
      },
    })
    for (const message of [
      toolCall('send_transaction', SEND),
      { ...toolCall('send_transaction', SEND), params: withProgress(SEND) },
    ]) {
      const { body, headers } = modern(message)
      const abort = new AbortController()
      const sent = fetch(slow.mcpUrl, {
        method: 'POST',
        headers: { ...PLAIN_HEADERS, ...headers },
        body: JSON.stringify(body),
        signal: abort.signal,
      }).then((response) => response.text())
      const left = expect(sent).rejects.toThrow()
      await expect.poll(() => atWork.length).toBe(1)
      abort.abort()
      await left
      // What is asked after the caller left is answered after the server has seen that.
      expect((await fetch(`${slow.baseUrl}/healthz`)).status).toBe(200)
      atWork.shift()?.()
    }
    expect(await slow.server.close()).toBe(0)
    expect(finished).toEqual([true, true])
  })

  it('keeps keys apart: what a read key may not do, it may not do in either era', async () => {
    const { body, headers } = modern(toolCall('send_transaction', SEND))
    for (const answer of [
      await postMessage(harness.mcpUrl, toolCall('send_transaction', SEND), {
        'x-api-key': READ_SECRET,
      }),
      await postMessage(harness.mcpUrl, body, { ...headers, 'x-api-key': READ_SECRET }),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('PERMISSION_DENIED')
    }
    expect(TRADE_SECRET).not.toBe(READ_SECRET)
  })
})

function withProgress(args: object): object {
  return { name: 'send_transaction', arguments: args, _meta: { progressToken: 'p' } }
}
