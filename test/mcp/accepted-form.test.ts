import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptedForm } from '../../src/mcp/accepted-form.js'
import { TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'
import { modern, toolCall } from './message.js'

/** `Accept` by RFC 9110, and not by the two types that the protocol asks clients to name. */

describe('what an Accept header accepts', () => {
  it.each([
    ['', 'either'],
    ['  ', 'either'],
    ['*/*', 'either'],
    ['*', 'either'],
    ['application/json, text/event-stream', 'either'],
    ['text/event-stream,application/json', 'either'],
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/*', 'json'],
    ['text/*', 'stream'],
    ['text/event-stream', 'stream'],
    ['text/html, */*;q=0.1', 'either'],
    ['text/html, image/gif, *; q=.2, */*; q=.2', 'either'],
    ['application/json;q=0.5, text/event-stream', 'stream'],
    ['application/json, text/event-stream;q=0.5', 'either'],
    ['application/json;q=0, */*', 'stream'],
    ['*/*, text/event-stream ; Q=0', 'json'],
    ['text/*;q=0, */*', 'json'],
    ['text/event-stream, text/*;q=0', 'stream'],
    ['application/json;q=x', 'json'],
    ['application/json;q=', 'json'],
    ['text/html', null],
    ['text/plain; a=application/json', null],
    ['application/jsonp', null],
    ['app*/json', null],
    ['*/*;q=0', null],
    ['application/json;q=0.000', null],
    [',,', null],
  ] as const)('%j: %s', (accept, form) => {
    expect(acceptedForm(accept)).toBe(form)
  })
})

interface Given {
  readonly status: number
  readonly type: string
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({})
})
afterAll(() => harness.server.close())

/** By hand, since `fetch` names what it accepts where nobody says. */
function post(body: unknown, headers: Record<string, string | string[]>): Promise<Given> {
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': TRADE_SECRET, ...headers },
    }
    const asked = request(harness.mcpUrl, options, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => {
        const type = response.headers['content-type'] ?? ''
        const text = Buffer.concat(pieces).toString()
        resolve({ status: response.statusCode ?? 0, type, messages: messagesIn(type, text) })
      })
    })
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })
}

function messagesIn(type: string, text: string): Given['messages'] {
  const isStream = type.startsWith('text/event-stream')
  const lines = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : [text]
  return lines.filter((line) => line !== '').flatMap((line) => JSON.parse(line))
}

const CALL = toolCall('get_native_balance', { chain_id: 8453 })
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const WITH_PROGRESS = {
  ...toolCall('send_transaction', { chain_id: 8453, to: `0x${'a'.repeat(40)}` }),
}
const BATCH = [PING, { ...CALL, id: 2 }]

const REQUESTS: readonly (readonly [string, unknown, Readonly<Record<string, string>>])[] = [
  ['a call', CALL, {}],
  ['the list', LIST, {}],
  ['what only the protocol package answers', PING, {}],
  ['a batch', BATCH, { 'mcp-protocol-version': '2025-03-26' }],
  ['a call that wants progress', withProgress(WITH_PROGRESS), {}],
  ['a call of the newest revision', modern(CALL).body, modern(CALL).headers],
]

function withProgress(message: object): object {
  const { params } = message as { readonly params: object }
  return { ...message, params: { ...params, _meta: { progressToken: 1 } } }
}

describe.each(REQUESTS)('%s', (_name, body, headers) => {
  const count = Array.isArray(body) ? body.length : 1

  it.each([
    ['no Accept at all', {}, null],
    ['*/*', { accept: '*/*' }, null],
    ['application/json', { accept: 'application/json' }, 'application/json'],
    ['application/*', { accept: 'application/*;q=0.3' }, 'application/json'],
    ['text/event-stream', { accept: 'text/event-stream' }, 'text/event-stream'],
    ['all but JSON', { accept: '*/*, application/json;q=0' }, 'text/event-stream'],
    ['two headers', { accept: ['application/json', 'text/event-stream'] }, null],
  ] as const)('is answered to a host that says %s, in what it accepts', async (_, accept, type) => {
    const given = await post(body, { ...headers, ...(accept as Record<string, string>) })
    expect(given.status).toBe(200)
    if (type !== null) expect(given.type.split(';')[0]).toBe(type)
    const answers = given.messages.filter((message) => 'id' in message)
    expect(answers).toHaveLength(count)
    for (const answer of answers) expect(answer.result).toBeTypeOf('object')
  })

  it('is 406 to a host that accepts neither form, and nothing is called', async () => {
    const before = harness.calls.length
    const given = await post(body, { ...headers, accept: 'text/html, application/xml;q=0.9' })
    expect(given.status).toBe(406)
    expect(given.messages[0]).toMatchObject({ error: { code: -32000 } })
    expect(harness.calls).toHaveLength(before)
  })
})
