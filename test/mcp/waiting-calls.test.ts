import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client'
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { fault } from '../../src/errors/fault.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness, type TestHandler } from './harness.js'
import { postMessage } from './message.js'
import { sampleOutput } from './sample-output.js'

/** A call that waits for people, as each kind of client is told of it and follows it. */

const VERSION = '2026-07-28'
const META = 'io.modelcontextprotocol/'
const TASKS = `${META}tasks`
const PAGE = 'http://127.0.0.1:1/approve/apr_1'
const TO = '0x00000000000000000000000000000000000000aa'
const SEND = { chain_id: 1, to: TO, value: '5' }
const SEND_CALL = { name: 'send_transaction', arguments: SEND }

/** What a service of one wallet would remember of its calls. */
const records = new Map<string, Readonly<Record<string, unknown>>>()
const sends = () => [...records.values()]

const handlers: Readonly<Record<string, TestHandler>> = {
  send_transaction: (_context, input) => {
    const txId = `tx_${records.size + 1}`
    const needed = input.value === '6' ? 0 : 1
    const approval = {
      ...{ approval_id: 'apr_1', url: needed === 0 ? null : PAGE, rule: 'large', needed },
      expires_at: '2026-11-22T12:00:00.000Z',
      runs_at: needed === 0 ? '2026-11-22T11:00:00.000Z' : null,
    }
    const record = { ...sample(), tx_id: txId, status: 'awaiting_approval', approval, ...input }
    records.set(txId, record)
    return { ok: true, value: record, status: 202 }
  },
  get_transaction_status: (_context, { tx_id }) => {
    const record = records.get(String(tx_id))
    return record === undefined
      ? { ok: false, fault: fault('NOT_FOUND') }
      : { ok: true, value: record }
  },
  withdraw_transaction: (_context, { tx_id }) => {
    if (records.get(String(tx_id))?.status !== 'awaiting_approval') {
      return { ok: false, fault: fault('INVALID_REQUEST') }
    }
    return { ok: true, value: becomes(String(tx_id), 'withdrawn') }
  },
}

function becomes(txId: string, status: string): Readonly<Record<string, unknown>> {
  const record = { ...records.get(txId), status }
  records.set(txId, record)
  return record
}

function sample(): Readonly<Record<string, unknown>> {
  const row = operations.find(({ name }) => name === 'send_transaction')
  if (row === undefined) throw new Error('no row')
  return sampleOutput(row, {})
}

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({ handlers })
})
afterAll(() => harness.server.close())

function transport(secret = TRADE_SECRET): ModernTransport {
  return new ModernTransport(harness.mcpUrl, { requestInit: { headers: { 'X-Api-Key': secret } } })
}

async function connect(capabilities: object): Promise<ModernClient> {
  const client = new ModernClient(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: VERSION } } },
  )
  await client.connect(transport())
  return client
}

async function request(method: string, params: object, secret = TRADE_SECRET) {
  const name = 'name' in params ? params.name : 'taskId' in params ? params.taskId : ''
  const { message } = await postMessage(
    harness.mcpUrl,
    { jsonrpc: '2.0', id: 1, method, params },
    {
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      'mcp-name': String(name),
      'x-api-key': secret,
    },
  )
  return message as { result?: Record<string, unknown>; error?: { code: number; message: string } }
}

function envelope(capabilities: object): Readonly<Record<string, JsonValue>> {
  return {
    [`${META}protocolVersion`]: VERSION,
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: capabilities as JsonValue,
  }
}

describe('a client that shows pages', () => {
  it.each([
    ['approves', 'accept', 'signed'],
    ['declines on the page', 'accept', 'declined'],
    ['leaves it open', 'accept', 'awaiting_approval'],
    ['does not open it', 'decline', 'awaiting_approval'],
  ] as const)('gets the record when its user %s, of the one call', async (_who, action, status) => {
    const client = await connect({ elicitation: { url: {} } })
    const shown: unknown[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      shown.push(params)
      becomes(`tx_${records.size}`, status)
      return { action }
    })
    const before = sends().length
    // The first of a client goes by the protocol package, the second by the short way.
    for (let i = 1; i <= 2; i++) {
      const { structuredContent, isError } = await client.callTool(SEND_CALL)
      expect(isError ?? false).toBe(false)
      expect(structuredContent).toMatchObject({ tx_id: `tx_${before + i}`, status })
      expect(sends()).toHaveLength(before + i)
    }
    expect(shown).toHaveLength(2)
    expect(shown[0]).toMatchObject({
      mode: 'url',
      url: PAGE,
      message: expect.stringContaining('"large"'),
    })
    await client.close()
  })

  it('is told of a call that only waits for its time by the record', async () => {
    const client = await connect({ elicitation: { url: {} } })
    const call = { name: 'send_transaction', arguments: { ...SEND, value: '6' } }
    const { structuredContent } = await client.callTool(call)
    expect(structuredContent).toMatchObject({ status: 'awaiting_approval' })
    await client.close()
  })

  it('cannot take the state of one call for another', async () => {
    const _meta = envelope({ elicitation: { url: {} } })
    const { result } = await request('tools/call', { ...SEND_CALL, _meta })
    expect(result).toMatchObject({ resultType: 'input_required' })
    const before = sends().length
    const other = { ...SEND_CALL, arguments: { ...SEND, value: '7' } }
    for (const requestState of [result?.requestState, 'tx_1', '', 'x'.repeat(1_000)]) {
      const answer = await request('tools/call', { ...other, requestState, _meta })
      expect(answer.error).toMatchObject({ code: -32602 })
    }
    expect(sends()).toHaveLength(before)
  })
})

describe('a client that shows no pages', () => {
  it.each([
    ['none', {}],
    ['forms alone, which prove no person', { elicitation: { form: {} } }],
    ['what is no declaration', { elicitation: { url: true }, extensions: { [TASKS]: 1 } }],
  ])('gets the record: it declares %s', async (_what, capabilities) => {
    const params = { ...SEND_CALL, _meta: envelope(capabilities) }
    for (let i = 0; i < 2; i++) {
      const { result, error } = await request('tools/call', params)
      if (error !== undefined) {
        expect(error).toMatchObject({ code: -32602 })
        continue
      }
      expect(result).toMatchObject({
        resultType: 'complete',
        structuredContent: { status: 'awaiting_approval', approval: { url: PAGE } },
      })
    }
  })

  it('gets the record in the handshake era, whatever it declared', async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { url: {}, form: {} } } },
    )
    await client.connect(
      new StreamableHTTPClientTransport(harness.mcpUrl, {
        requestInit: { headers: { 'X-Api-Key': TRADE_SECRET } },
      }) as unknown as Parameters<Client['connect']>[0],
    )
    const { structuredContent, isError } = await client.callTool(SEND_CALL)
    expect(isError ?? false).toBe(false)
    expect(structuredContent).toMatchObject({ status: 'awaiting_approval' })
    await client.close()
  })
})

describe('a client of the tasks extension', () => {
  const clientCapabilities = { extensions: { [TASKS]: {} } }

  async function openSession() {
    const client = await connect(clientCapabilities)
    const session = createTaskSessionFromClient(client, {
      endpointId: 'countersign',
      rawDispatch: async (message) => {
        const { method, params } = message as unknown as { method: string; params: object }
        const { result, error } = await request(method, params)
        return error === undefined
          ? { kind: 'result', result: result as JsonValue }
          : { kind: 'error', error }
      },
      v2RequestFraming: {
        protocolVersion: VERSION,
        clientInfo: { name: 'test', version: '1' },
        clientCapabilities,
      },
    })
    return { client, session }
  }

  it('follows the call until people have decided, and gets the record', async () => {
    const { client, session } = await openSession()
    const execution = await session.callTool('send_transaction', SEND)
    const txId = `tx_${records.size}`
    expect(records.get(txId)).toMatchObject({ status: 'awaiting_approval' })
    becomes(txId, 'confirmed')
    const { outcome } = await execution.settle()
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      structuredContent: { tx_id: txId, status: 'confirmed' },
    })
    await session.close()
    await client.close()
  })

  it('withdraws the call when it cancels, and sees it cancelled', async () => {
    const { client, session } = await openSession()
    const execution = await session.callTool('send_transaction', SEND)
    const txId = `tx_${records.size}`
    await execution.cancel()
    expect(records.get(txId)).toMatchObject({ status: 'withdrawn' })
    const { result } = await request('tasks/get', {
      taskId: txId,
      _meta: envelope(clientCapabilities),
    })
    expect(result).toMatchObject({ resultType: 'complete', taskId: txId, status: 'cancelled' })
    await session.close()
    await client.close()
  })

  it('is shown the page by the task where it shows pages too', async () => {
    const _meta = envelope({ ...clientCapabilities, elicitation: { url: {} } })
    const { result } = await request('tools/call', { ...SEND_CALL, _meta })
    expect(result).toMatchObject({ resultType: 'task', status: 'input_required' })
    expect(result).not.toHaveProperty('inputRequests')
    const taskId = String(result?.taskId)
    const seen = await request('tasks/get', { taskId, _meta })
    expect(seen.result).toMatchObject({ taskId, status: 'input_required' })
    const asked = Object.entries(seen.result?.inputRequests ?? {})
    expect(asked).toMatchObject([
      [
        expect.stringContaining('approval'),
        { method: 'elicitation/create', params: { url: PAGE } },
      ],
    ])
    const inputResponses = Object.fromEntries(asked.map(([name]) => [name, { action: 'accept' }]))
    const update = await request('tasks/update', { taskId, inputResponses, _meta })
    expect(update.result).toMatchObject({ resultType: 'complete' })
    expect(records.get(taskId)).toMatchObject({ status: 'awaiting_approval' })
  })

  it('sees no task that is not of its key, and cancels none without the right to', async () => {
    const _meta = envelope(clientCapabilities)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      records.set('tx_plain', { ...sample(), tx_id: 'tx_plain', approval: undefined })
      for (const taskId of ['tx_none', 'tx_plain', 'x'.repeat(100)]) {
        const { error } = await request(method, { taskId, _meta })
        expect(error, `${method} ${taskId}`).toMatchObject({ code: -32602 })
      }
    }
    const { result } = await request('tools/call', { ...SEND_CALL, _meta })
    const taskId = String(result?.taskId)
    const { error } = await request('tasks/cancel', { taskId, _meta }, READ_SECRET)
    expect(error).toMatchObject({ code: -32602 })
    expect(error?.message).toContain('PERMISSION_DENIED')
    expect(records.get(taskId)).toMatchObject({ status: 'awaiting_approval' })
  })
})
