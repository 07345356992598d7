import { describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import type { ToolBinding } from '../../src/mcp/call-tool.js'
import { createEnvelopeCache } from '../../src/mcp/envelope-cache.js'
import { type McpHeaders, type PlainCall, readPlainRequest } from '../../src/mcp/fast-path.js'
import { readJson } from '../../src/mcp/json.js'
import {
  createRepeatedCalls,
  type RepeatedCalls,
  readCallText,
} from '../../src/mcp/repeated-calls.js'
import { modern, toolCall } from './message.js'

const tools: ReadonlyMap<string, ToolBinding> = new Map(
  operations.map((row) => [
    row.name,
    { row, handler: () => ({ ok: true as const, value: { of: row.name } }) },
  ]),
)
const HANDSHAKE: McpHeaders = {
  protocolVersion: '2025-06-18',
  method: '',
  name: '',
}
const MODERN: McpHeaders = {
  ...HANDSHAKE,
  protocolVersion: '2026-07-28',
  method: 'tools/call',
  name: 'get_limits',
}
const envelopes = createEnvelopeCache()
const modernBody = modern(toolCall('get_limits', {})).body as { readonly params: object }
envelopes.learn((modernBody.params as { readonly _meta: unknown })._meta)

function readWhole(headers: McpHeaders, body: string): PlainCall | null {
  const json = readJson(Buffer.from(body))
  const plain =
    json.kind === 'json' ? readPlainRequest(headers, json.value, tools, envelopes) : null
  return plain?.kind === 'call' ? plain : null
}

function find(calls: RepeatedCalls, headers: McpHeaders, body: string): PlainCall | null {
  const text = readCallText(Buffer.from(body))
  return text === null ? null : calls.find(headers, text)
}

function learn(calls: RepeatedCalls, headers: McpHeaders, body: string): void {
  const text = readCallText(Buffer.from(body))
  const plain = readWhole(headers, body)
  if (text !== null && plain !== null) calls.learn(text, plain)
}

const LIMITS = '"method":"tools/call","params":{"name":"get_limits","arguments":{}}'
const GAS = '"method":"tools/call","params":{"name":"gas_estimate","arguments":'

/** As clients write them; `#` is the id. */
const USUAL = [
  `{"jsonrpc":"2.0","id":#,${LIMITS}}`,
  `{${LIMITS},"jsonrpc":"2.0","id":#}`,
  `{"jsonrpc":"2.0",${GAS}{"chain_id":8453,"to":"0x1"}},"id":#}`,
]

/** `#` stands where an id might, and is not the message's alone, or not seen to be. */
const ODD = [
  `{"jsonrpc": "2.0", "id": #, "method": "tools/call", "params": {"name": "get_limits"}}`,
  `{"jsonrpc":"2.0",${GAS}{"a":1,"id":#}}}`,
  `{${LIMITS},"jsonrpc":"2.0","to":"\\",\\"id\\":#}`,
  `{"jsonrpc":"2.0",${GAS}{"id":#}},"id":5}`,
  `{"jsonrpc":"2.0",${GAS}{"id":#}},"id":#}`,
  `{"jsonrpc":"2.0","id":5,${GAS}{"id":#}}}`,
  `{"jsonrpc":"2.0",${GAS}{"id":{"id":#}}},"id":5}`,
  `{"jsonrpc":"2.0",${GAS}{"a":[{"id":#}]}},"id":5}`,
  `{"jsonrpc":"2.0",${GAS}{"to":"\\"id\\":#,"}},"id":5}`,
  `{"jsonrpc":"2.0","\\"id":#,"id":5,${LIMITS}}`,
  `{"jsonrpc":"2.0","\\"id":#,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":#,"id":#,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":#,"\\u0069d":7,${LIMITS}}`,
  `{"jsonrpc":"2.0","id" :#,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":  #,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":#,${LIMITS}}}`,
  `{"jsonrpc":"2.0","id":#,${LIMITS}} `,
  `{"jsonrpc":"2.0","id":#.5,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":#e2,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":-#,${LIMITS}}`,
  `{"jsonrpc":"2.0","id":[#],${LIMITS}}`,
  `[{"jsonrpc":"2.0","id":#,${LIMITS}}]`,
  `{"jsonrpc":"2.0",${LIMITS},"id":#`,
  `{"jsonrpc":"2.0","id":#}`,
  `"id":#}`,
  `{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"get_limits","arguments":{"é":1}}}`,
]
const IDS = ['0', '1', '42', '123456789012345']
const ODD_IDS = [
  '"a"',
  '"r-1_x.y:z"',
  '01',
  '',
  '1234567890123456',
  '9007199254740993',
  '""',
  '"a\\"b"',
  '"é"',
  'null',
  '{}',
]

const withId = (body: string, id: string) => body.replaceAll('#', id)

describe('a body that differs from an earlier one in nothing but its id', () => {
  it.each(USUAL)('is known: %s', (body) => {
    const calls = createRepeatedCalls()
    for (const id of IDS) expect(find(calls, HANDSHAKE, withId(body, id))).toBeNull()
    learn(calls, HANDSHAKE, withId(body, '7'))
    for (const id of IDS) {
      const found = find(calls, HANDSHAKE, withId(body, id))
      expect(found).toEqual(readWhole(HANDSHAKE, withId(body, id)))
      expect(found?.idText).toBe(id)
    }
  })

  it('is never taken for another than it is, whatever was learned before', () => {
    const calls = createRepeatedCalls()
    const bodies = [...USUAL, ...ODD].flatMap((body) =>
      [...IDS, ...ODD_IDS].map((id) => withId(body, id)),
    )
    for (const body of bodies) learn(calls, HANDSHAKE, body)
    let found = 0
    for (const body of bodies) {
      const known = find(calls, HANDSHAKE, body)
      if (known === null) continue
      found++
      expect(known, body).toEqual(readWhole(HANDSHAKE, body))
    }
    expect(found).toBeGreaterThanOrEqual(USUAL.length * IDS.length)
  })

  it('is looked at again when its headers name another revision, or are not plain', () => {
    const calls = createRepeatedCalls()
    const [plain = ''] = USUAL
    const enveloped = JSON.stringify(modernBody)
    learn(calls, HANDSHAKE, withId(plain, '1'))
    learn(calls, MODERN, enveloped)
    expect(find(calls, MODERN, enveloped)).toEqual(readWhole(MODERN, enveloped))
    expect(find(calls, HANDSHAKE, enveloped)).toBeNull()
    expect(find(calls, MODERN, withId(plain, '2'))).toBeNull()
    expect(find(calls, { ...MODERN, name: 'get_balance' }, enveloped)).toBeNull()
    expect(find(calls, { ...MODERN, method: 'tools/list' }, enveloped)).toBeNull()
    expect(find(calls, { ...HANDSHAKE, protocolVersion: 'x' }, withId(plain, '2'))).toBeNull()
  })
})

describe('what is kept', () => {
  it('is no write, and nothing long', () => {
    const calls = createRepeatedCalls()
    const write = JSON.stringify(toolCall('send_transaction', { chain_id: 8453 }))
    const long = JSON.stringify(toolCall('get_limits', { a: 'x'.repeat(2_000) }))
    for (const body of [write, long]) {
      expect(readWhole(HANDSHAKE, body)).not.toBeNull()
      learn(calls, HANDSHAKE, body)
      expect(find(calls, HANDSHAKE, body)).toBeNull()
    }
  })
})
