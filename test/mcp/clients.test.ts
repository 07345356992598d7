import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { TOOL_ORDER } from '../../src/mcp/tools.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'

const SEND = { chain_id: 1, to: '0x00000000000000000000000000000000000000aa', value: '5' }

let harness: McpHarness
/** What a send waits for. */
let heard = Promise.resolve()
beforeAll(async () => {
  harness = await startMcpHarness({
    handlers: {
      send_transaction: async (_context, input) => {
        await heard
        return { ok: true, value: { ...(await slowRecord()), to: input.to } }
      },
    },
  })
})
afterAll(() => harness.server.close())

async function slowRecord() {
  const { sampleOutput } = await import('./sample-output.js')
  const row = operations.find(({ name }) => name === 'send_transaction')
  if (row === undefined) throw new Error('no row')
  return sampleOutput(row, {})
}

interface AnyClient {
  listTools(): Promise<{ tools: { name: string; annotations?: object | undefined }[] }>
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    ...rest: never[]
  ): Promise<Record<string, unknown>>
  close(): Promise<void>
}

async function connectFirst(secret = TRADE_SECRET): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(harness.mcpUrl, {
    requestInit: { headers: { 'X-Api-Key': secret } },
  })
  await client.connect(transport as unknown as Parameters<Client['connect']>[0])
  return client
}

async function connectSecond(
  mode: 'legacy' | 'auto' | { pin: string },
  secret = TRADE_SECRET,
): Promise<ModernClient> {
  const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(
    new ModernTransport(harness.mcpUrl, { requestInit: { headers: { 'X-Api-Key': secret } } }),
  )
  return client
}

const CLIENTS: readonly (readonly [string, (secret?: string) => Promise<unknown>])[] = [
  ['the first client package', connectFirst],
  ['the second in its handshake era', (secret) => connectSecond('legacy', secret)],
  ['the second, negotiating', (secret) => connectSecond('auto', secret)],
  ['the second, pinned to 2026-07-28', (secret) => connectSecond({ pin: '2026-07-28' }, secret)],
]

describe.each(CLIENTS)('%s', (_name, connect) => {
  let client: AnyClient
  beforeAll(async () => {
    client = (await connect()) as AnyClient
  })
  afterAll(() => client.close())

  it('lists the tools in the order of the specification, with all four hints', async () => {
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(TOOL_ORDER.filter((name) => operations.some((row) => row.name === name)))
    for (const tool of tools) {
      expect(Object.keys(tool.annotations ?? {}).sort()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ])
    }
  })

  it('reads, with structured content that passes its output schema', async () => {
    const result = await client.callTool({ name: 'get_limits', arguments: {} })
    expect(result.isError ?? false).toBe(false)
    expect(result.structuredContent).toMatchObject({ daily_limit_usd: expect.any(String) })
  })

  it('answers each tool with what its output schema allows', async () => {
    for (const row of operations.filter(({ surface }) => surface === 'rest-and-mcp')) {
      if (row.movesValue) continue
      const args: Record<string, unknown> = {}
      if (Object.hasOwn((row.input as { shape?: object }).shape ?? {}, 'chain_id'))
        args.chain_id = 1
      if (row.name === 'get_balance') args.token = SEND.to
      if (row.name === 'get_transaction_status') args.tx_id = 'tx_1'
      const result = await client.callTool({ name: row.name, arguments: args })
      if (result.isError !== true) expect(result.structuredContent).toBeTypeOf('object')
    }
  })

  it('gets refusals as the error body of REST, in text alone', async () => {
    const result = await client.callTool({
      name: 'get_native_balance',
      arguments: { chain_id: 10 },
    })
    expect(result.isError).toBe(true)
    expect(result.structuredContent).toBeUndefined()
    const [content] = result.content as { text: string }[]
    expect(JSON.parse(content?.text ?? '')).toMatchObject({
      error: { code: 'CHAIN_NOT_ALLOWED', details: { chain_id: 10 } },
    })
  })

  it('rejects a tool that does not exist as a protocol error', async () => {
    await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('sends, and hears of progress while the write runs', async () => {
    const seen: number[] = []
    let hear = () => {}
    heard = new Promise((resolve) => {
      hear = resolve
    })
    const onprogress = ({ progress }: { progress: number }) => {
      seen.push(progress)
      if (seen.length >= 2) hear()
    }
    const call = client.callTool.bind(client) as (
      ...args: unknown[]
    ) => Promise<Record<string, unknown>>
    const params = { name: 'send_transaction', arguments: { ...SEND, idempotency_key: 'pay-1' } }
    const result =
      client instanceof Client
        ? await call(params, undefined, { onprogress })
        : await call(params, { onprogress })
    expect(result.structuredContent).toMatchObject({ to: SEND.to })
    expect(seen.length, 'it ended once it was heard of twice').toBeGreaterThanOrEqual(2)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(harness.calls.at(-1)).toMatchObject({
      input: SEND,
      idempotencyKey: 'pay-1',
      proofKeyIsIntact: true,
    })
  })

  it('a read key may list and read, but not send', async () => {
    const reader = (await connect(READ_SECRET)) as AnyClient
    expect((await reader.listTools()).tools).toHaveLength((await client.listTools()).tools.length)
    const result = await reader.callTool({ name: 'send_transaction', arguments: SEND })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain('PERMISSION_DENIED')
    await reader.close()
  })

  it('is turned away without a key, and without being asked to start OAuth', async () => {
    await expect(connect('')).rejects.toThrow()
  })
})
