import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationRow } from '../../src/api/operation-row.js'
import { operations } from '../../src/api/operations.js'
import { fault } from '../../src/errors/fault.js'
import { argumentsAsMeant } from '../../src/mcp/host-arguments.js'
import { toolRows } from '../../src/mcp/tools.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness, type TestHandler } from './harness.js'
import { modern, postMessage, toolCall } from './message.js'
import { sampleOutput } from './sample-output.js'

/** The same inputs, good and bad, through REST and through both eras of MCP, for each tool. */

const ADDRESS = '0x00000000000000000000000000000000000000aa'
const UNSET = Symbol('field left out')

const GOOD: Readonly<Record<string, unknown>> = {
  chain_id: 1,
  token: ADDRESS,
  token_in: ADDRESS,
  token_out: '0x00000000000000000000000000000000000000bb',
  to: ADDRESS,
  data: '0xab',
  value: '5',
  amount: '5',
  amount_in: '5',
  shares: '5',
  market_id: 'm1',
  tx_id: 'tx_1',
  slippage_bps: 10,
}
/** What GET can say in a query, as text; other types exist in JSON bodies only. */
const BAD: readonly unknown[] = [UNSET, '', 'x', '-1', '0x', '1e3', 10, 999, ADDRESS.slice(0, 41)]
const BAD_IN_JSON: readonly unknown[] = [null, 1.5, -1, true, [], {}, '1'.repeat(300)]

type Input = Readonly<Record<string, unknown>>

const rows: readonly OperationRow[] = toolRows(operations)
const handlers: Readonly<Record<string, TestHandler>> = Object.fromEntries(
  rows.map((row) => [
    row.name,
    (context, input): ReturnType<TestHandler> => {
      const text = JSON.stringify(input)
      if (text.includes('"value":"7"')) {
        return {
          ok: false,
          fault: fault('LIMIT_EXCEEDED', { period: 'daily' }, undefined, 'internal'),
        }
      }
      if (context.idempotency?.key === 'seen') {
        return { ok: true, value: sampleOutput(row, input), replayed: true }
      }
      return { ok: true, value: sampleOutput(row, input) }
    },
  ]),
)

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({ handlers })
})
afterAll(() => harness.server.close())

interface Outcome {
  readonly body: unknown
  readonly replayed: boolean
  readonly calls: readonly unknown[]
}

async function viaRest(row: OperationRow, input: Input, secret: string, idempotencyKey?: string) {
  const from = harness.calls.length
  const rest = { ...input }
  const path = row.path.replace(/:(\w+)/g, (_match, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  const headers: Record<string, string> = { 'x-api-key': secret, 'x-request-id': 'same' }
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  const url = new URL(path, harness.baseUrl)
  let init: RequestInit = { headers }
  if (row.method === 'GET') {
    for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, String(value))
  } else {
    headers['content-type'] = 'application/json'
    init = { method: 'POST', headers, body: JSON.stringify(rest) }
  }
  const response = await fetch(url, init)
  const replayed = response.headers.get('idempotency-replayed') === 'true'
  return { body: await response.json(), replayed, calls: harness.calls.slice(from) }
}

async function viaMcp(
  row: OperationRow,
  input: Input,
  secret: string,
  era: 'handshake' | 'modern',
  idempotencyKey?: string,
): Promise<Outcome> {
  const from = harness.calls.length
  const args = idempotencyKey === undefined ? input : { ...input, idempotency_key: idempotencyKey }
  const call = toolCall(row.name, args)
  const { body, headers } = era === 'modern' ? modern(call) : { body: call, headers: {} }
  const answer = await postMessage(harness.mcpUrl, body, {
    ...headers,
    'x-api-key': secret,
    'x-request-id': 'same',
  })
  const result = answer.message?.result as
    | {
        readonly isError?: boolean
        readonly structuredContent?: unknown
        readonly content: readonly { readonly text: string }[]
        readonly _meta?: Readonly<Record<string, unknown>>
      }
    | undefined
  if (result === undefined) throw new Error(`no result: ${answer.text}`)
  // The header's name in REST, the argument's here.
  const json = result.content[0]?.text
    .replace('"path":"idempotency_key"', '"path":"Idempotency-Key"')
    .replace('malformed: idempotency_key', 'malformed: Idempotency-Key')
  const text: unknown = JSON.parse(json ?? '')
  if (result.isError !== true) expect(result.structuredContent).toEqual(text)
  return {
    body: text,
    replayed: result._meta?.['countersign/idempotency-replayed'] === true,
    calls: harness.calls.slice(from),
  }
}

async function expectParity(row: OperationRow, input: Input, secret: string, key?: string) {
  // What hosts write for an absent argument, or an integer, is another text over REST.
  const meant = argumentsAsMeant(row, input) as Input
  const rest = await viaRest(row, meant, secret, key)
  for (const era of ['handshake', 'modern'] as const) {
    expect(await viaMcp(row, input, secret, era, key), JSON.stringify(input)).toEqual(rest)
  }
}

describe.each(rows.map((row) => [row.name, row] as const))('%s', (_name, row) => {
  const branches = inputBranches(row)
  const good = pick(branches[0] ?? [])

  it('answers good input alike', async () => {
    for (const fields of branches) await expectParity(row, pick(fields), TRADE_SECRET)
    await expectParity(row, good, READ_SECRET)
    if (row.movesValue) {
      await expectParity(row, good, TRADE_SECRET, 'a key')
      await expectParity(row, good, TRADE_SECRET, 'key-1')
      await expectParity(row, good, TRADE_SECRET, 'seen')
      await expectParity(row, { ...good, value: '7' }, TRADE_SECRET)
    }
  })

  it('refuses bad input alike', async () => {
    const isBody = row.method === 'POST'
    for (const field of Object.keys(good)) {
      if (row.path.includes(`:${field}`)) continue
      for (const bad of isBody ? [...BAD, ...BAD_IN_JSON] : BAD) {
        // A query says 10 and "10" alike; a tool's arguments do not.
        if (!isBody && field === 'chain_id' && typeof bad === 'string') continue
        if (!isBody && field !== 'chain_id' && typeof bad === 'number') continue
        const { [field]: _old, ...rest } = good
        await expectParity(row, bad === UNSET ? rest : { ...rest, [field]: bad }, TRADE_SECRET)
      }
    }
    await expectParity(row, { ...good, surprise: 'x' }, TRADE_SECRET)
    // In a query a field that the operation does not know is text, here it is a number.
    if (!isBody && !Object.hasOwn(good, 'chain_id')) return
    await expectParity(row, { ...good, chain_id: 10 }, TRADE_SECRET)
    await expectParity(row, { ...good, chain_id: 10 }, READ_SECRET)
  })
})

interface SchemaShape {
  readonly shape?: object
  readonly options?: readonly SchemaShape[]
}

function inputBranches(row: OperationRow): readonly (readonly string[])[] {
  const schema = row.input as SchemaShape
  return (schema.options ?? [schema]).map(({ shape = {} }) => Object.keys(shape))
}

function pick(fields: readonly string[]): Input {
  return Object.fromEntries(fields.map((field) => [field, GOOD[field] ?? 'x']))
}
