import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepJson } from '../../src/api/json-text.js'
import type { OperationRow } from '../../src/api/operation-row.js'
import { operations } from '../../src/api/operations.js'
import { fault } from '../../src/errors/fault.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness, type TestHandler } from './harness.js'
import { postMessage } from './message.js'
import { createRandom, type Random } from './random.js'
import { sampleOutput } from './sample-output.js'

/**
 * The short way against the protocol package alone: the same requests to both, the same status,
 * the same JSON-RPC messages, the same operations called with the same input. Only the framing of
 * the handshake era (JSON instead of an event stream of one message) may differ. Many requests
 * repeat one from before under another id, as agents do, and some answers are kept ones.
 *
 * MCP_DIFFERENTIAL_REQUESTS and MCP_DIFFERENTIAL_SEED ask for more, and for others.
 */

const REQUESTS = Number(process.env.MCP_DIFFERENTIAL_REQUESTS ?? 2_000)
const IN_FLIGHT = 16
const SEED = Number(process.env.MCP_DIFFERENTIAL_SEED ?? 20_260_728)

const handlers: Readonly<Record<string, TestHandler>> = Object.fromEntries(
  operations.map((row) => [
    row.name,
    (_context, input): ReturnType<TestHandler> => {
      const text = JSON.stringify(input)
      if (text.includes('"value":"7"')) {
        return { ok: false, fault: fault('LIMIT_EXCEEDED', { period: 'daily' }) }
      }
      if (text.includes('"value":"8"')) throw new Error('a secret of the implementation')
      if (text.includes('"chain_id":1')) return { ok: true, value: keptOutput(row, input) }
      const value = sampleOutput(row, input)
      if (text.includes('"value":"6"')) return { ok: true, value: waiting(value), status: 202 }
      if (text.includes('"value":"9"')) return { ok: true, value, replayed: true }
      if (text.includes('"chain_id":8453')) return Promise.resolve({ ok: true, value })
      return { ok: true, value }
    },
  ]),
)

function waiting(record: object): object {
  return { ...record, tx_id: 'tx_6', status: 'awaiting_approval' }
}

const keptOutputs = new Map<string, object>()

function keptOutput(row: OperationRow, input: Readonly<Record<string, unknown>>): object {
  const key = `${row.name} ${JSON.stringify(input)}`
  const kept = keptOutputs.get(key) ?? keepJson(sampleOutput(row, input))
  keptOutputs.set(key, kept)
  return kept
}

let fast: McpHarness
let package_: McpHarness
beforeAll(async () => {
  fast = await startMcpHarness({ handlers })
  package_ = await startMcpHarness({ handlers, path: 'sdk-only' })
})
afterAll(async () => {
  await fast.server.close()
  await package_.server.close()
})

describe(`${REQUESTS} random requests, seed ${SEED}`, () => {
  it('are answered alike by the short way and by the protocol package', async () => {
    const random = createRandom(SEED)
    const requests: RandomRequest[] = []
    for (let i = 0; i < REQUESTS; i++) {
      const earlier = random.chance(0.3) ? requests[Math.floor(random.next() * i)] : undefined
      requests.push(earlier === undefined ? randomRequest(random, i) : again(random, i, earlier))
    }
    let next = 0
    const worker = async () => {
      for (let at = next++; at < requests.length; at = next++) {
        const request = requests[at]
        if (request !== undefined) await compare(request)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
    expect(sorted(fast.calls)).toEqual(sorted(package_.calls))
    expect(fast.calls.length).toBeGreaterThan(REQUESTS / 10)
    expect(fast.calls.every(({ proofKeyIsIntact }) => proofKeyIsIntact)).toBe(true)
  }, 300_000)
})

async function compare({ body, headers }: RandomRequest): Promise<void> {
  const [a, b] = await Promise.all([
    postMessage(fast.mcpUrl, body, headers),
    postMessage(package_.mcpUrl, body, headers),
  ])
  if (a.status === b.status && isDeepStrictEqual(a.messages, b.messages)) return
  const seen = { status: a.status, messages: a.messages }
  const wanted = { status: b.status, messages: b.messages }
  expect(seen, `${body} ${JSON.stringify(headers)}`).toEqual(wanted)
}

function sorted(calls: McpHarness['calls']): string[] {
  return calls.map((call) => JSON.stringify(call)).sort()
}

interface RandomRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const TOOLS = operations.map(({ name }) => name)
const ADDRESS = '0x00000000000000000000000000000000000000aa'
const META = 'io.modelcontextprotocol/'

function randomRequest(random: Random, i: number): RandomRequest {
  const isModern = random.chance(0.5)
  const method = random.chance(0.85)
    ? 'tools/call'
    : random.pick(['tools/list', 'ping', 'initialize', 'server/discover', 'prompts/list', 'nope'])
  const name = random.chance(0.95)
    ? random.pick(TOOLS)
    : random.pick(['nope', '', '__proto__', 7, null])
  const params: Record<string, unknown> =
    method === 'tools/call' ? { name, arguments: randomArguments(random, name) } : {}
  if (method === 'initialize') {
    params.protocolVersion = random.pick(['2025-03-26', '2025-11-25', '2026-07-28', 'x'])
    params.capabilities = {}
    params.clientInfo = { name: 'x', version: '1' }
  }
  if (isModern) params._meta = randomEnvelope(random)
  if (random.chance(0.05)) random.pick(PARAM_TWISTS)(params)
  const message: Record<string, unknown> = {
    jsonrpc: '2.0',
    id: random.chance(0.9) ? `r${i}` : random.pick([i, 0, -1, 1.5, null, '', 2 ** 53, true]),
    method,
    params,
  }
  if (random.chance(0.04)) random.pick(MESSAGE_TWISTS)(message)
  const body = random.chance(0.02) ? [message] : message
  return {
    body: random.chance(0.01) ? JSON.stringify(body).slice(1) : JSON.stringify(body),
    headers: randomHeaders(random, isModern, method, name),
  }
}

/** The same body under another id, or what that makes of it, at times with the other key. */
function again(random: Random, i: number, { body, headers }: RandomRequest): RandomRequest {
  const id = random.pick([`${i}`, `"s${i}"`, '0', '01', '""', '"é"', '12345678901234567'])
  return {
    body: body.replace(
      /"id": ?(?:"[^"]*"|-?\d+)/,
      () => `"id":${random.chance(0.1) ? ' ' : ''}${id}`,
    ),
    headers: {
      ...headers,
      'x-api-key': random.chance(0.7) ? TRADE_SECRET : READ_SECRET,
    },
  }
}

const without = (name: string) => (object: Record<string, unknown>) => {
  delete object[name]
}

const PARAM_TWISTS: readonly ((params: Record<string, unknown>) => void)[] = [
  without('arguments'),
  without('name'),
  without('_meta'),
  (params) => {
    params.arguments = null
  },
  (params) => {
    params.arguments = []
  },
  (params) => {
    params.cursor = 'x'
  },
  (params) => {
    params._meta = {}
  },
  (params) => {
    params._meta = { ...(params._meta as object), progressToken: 1 }
  },
  (params) => {
    params.unknown = { deep: [1] }
  },
  (params) => {
    params.requestState = 'x'
  },
]

const MESSAGE_TWISTS: readonly ((message: Record<string, unknown>) => void)[] = [
  without('id'),
  without('params'),
  without('jsonrpc'),
  without('method'),
  (message) => {
    message.jsonrpc = '1.0'
  },
  (message) => {
    message.extra = 1
  },
  (message) => {
    message.params = []
  },
  (message) => {
    message.result = {}
  },
]

const GOOD_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  chain_id: [1, 8453],
  to: [ADDRESS],
  token: [ADDRESS],
  value: ['5', '6', '7', '8', '9', '0x10'],
  data: ['0x', '0xab'],
  tx_id: ['tx_1', 'é\u2028"'],
  idempotency_key: ['k1', 'k2'],
}
const ODD_VALUES = [10, 0, -1, 1.5, '1', null, '', ' ', 'é', '0x1', '0xa', [], {}, true]

/** Mostly what the tool asks for, with now and then an odd value, a field too many or too few. */
function randomArguments(random: Random, name: unknown): Record<string, unknown> {
  const row = operations.find((candidate) => candidate.name === name)
  const fields = Object.keys((row?.input as { shape?: object } | undefined)?.shape ?? {})
  const args: Record<string, unknown> = {}
  for (const field of row?.movesValue ? [...fields, 'idempotency_key'] : fields) {
    if (random.chance(0.95)) args[field] = random.pick(GOOD_VALUES[field] ?? ['x'])
  }
  if (random.chance(0.15)) args[random.pick(Object.keys(GOOD_VALUES))] = random.pick(ODD_VALUES)
  if (random.chance(0.02)) Object.assign(args, JSON.parse('{"a":{"__proto__":1}}'))
  if (random.chance(0.02)) Object.defineProperty(args, '__proto__', { value: {}, enumerable: true })
  if (random.chance(0.02)) Object.assign(args, { constructor: 'x' })
  return args
}

function randomEnvelope(random: Random): Record<string, unknown> {
  const meta: Record<string, unknown> = {
    [`${META}protocolVersion`]: random.chance(0.95)
      ? '2026-07-28'
      : random.pick(['2025-11-25', '2027-01-01', 1]),
    [`${META}clientCapabilities`]: random.chance(0.8)
      ? {}
      : random.pick([
          { roots: {} },
          { sampling: { tools: {} } },
          { elicitation: 5 },
          { elicitation: { url: {} } },
          { elicitation: { url: {} }, extensions: { [`${META}tasks`]: {} } },
          { x: 1 },
          null,
          [],
        ]),
  }
  if (random.chance(0.8)) {
    meta[`${META}clientInfo`] = random.chance(0.95)
      ? { name: 'x', version: '1' }
      : random.pick([{ name: 'x' }, 'x', null, { name: 1, version: '1' }])
  }
  if (random.chance(0.03)) meta[`${META}logLevel`] = random.pick(['info', 'x'])
  if (random.chance(0.03))
    delete meta[`${META}${random.pick(['protocolVersion', 'clientCapabilities'])}`]
  if (random.chance(0.03)) meta['vendor/x'] = 1
  return meta
}

function randomHeaders(
  random: Random,
  isModern: boolean,
  method: string,
  name: unknown,
): Record<string, string> {
  const headers: Record<string, string> = {
    'x-api-key': random.chance(0.7) ? TRADE_SECRET : READ_SECRET,
    'x-request-id': 'same',
  }
  if (isModern) {
    headers['mcp-protocol-version'] = '2026-07-28'
    headers['mcp-method'] = method
    if (typeof name === 'string' && method === 'tools/call') headers['mcp-name'] = name
  } else if (random.chance(0.7)) {
    headers['mcp-protocol-version'] = random.pick(['2025-03-26', '2025-06-18', '2025-11-25'])
  }
  if (random.chance(0.02))
    headers['mcp-protocol-version'] = random.pick(['2026-07-28', '2024-11-05', 'x'])
  if (random.chance(0.02)) headers['mcp-method'] = 'tools/list'
  if (random.chance(0.02))
    headers['mcp-name'] = random.pick(['get_limits', ' get_limits ', '=?base64?Z2V0?='])
  if (random.chance(0.02))
    headers.accept = random.pick(['application/json', '*/*', 'text/event-stream'])
  return headers
}
