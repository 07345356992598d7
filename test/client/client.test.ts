import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import type { ConsoleInput, ConsoleOutput } from '../../src/api/console-operations.js'
import { consoleOperations } from '../../src/api/console-operations.js'
import { type OperationInput, type OperationOutput, operations } from '../../src/api/operations.js'
import { type Client, type ConsoleClient, createClient } from '../../src/client/client.js'
import {
  AddressBlockedError,
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  LimitExceededError,
  NotFoundError,
  PermissionError,
  UnavailableError,
  WaitTimeoutError,
} from '../../src/client/errors.js'
import { AGENT_ROUTES, CONSOLE_ROUTES } from '../../src/client/routes.js'
import { fault } from '../../src/errors/fault.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from '../mcp/harness.js'
import { sampleOutput } from '../mcp/sample-output.js'

const SEND = { chain_id: 1, to: '0x00000000000000000000000000000000000000aa', value: '5' }
const SEND_ROW = operations.find(({ name }) => name === 'send_transaction') ?? operations[0]

let harness: McpHarness
/** What the next calls of send_transaction answer, first to last; then success. */
const script: (Parameters<typeof fault>[0] | 'hang up')[] = []
const statuses: string[] = []

beforeAll(async () => {
  harness = await startMcpHarness({
    handlers: {
      send_transaction: (_context, input) => {
        const next = script.shift()
        if (next === undefined || next === 'hang up') {
          return { ok: true, value: sampleOutput(SEND_ROW, input) }
        }
        return { ok: false, fault: fault(next, { period: 'daily' }) }
      },
      get_transaction_status: (_context, input) => ({
        ok: true,
        value: { ...sampleOutput(SEND_ROW, input), status: statuses.shift() ?? 'confirmed' },
      }),
      get_wallet_address: () => ({ ok: false, fault: fault('CHAIN_UNAVAILABLE') }),
    },
  })
})
afterAll(() => harness.server.close())

function client(over: Partial<Parameters<typeof createClient>[0]> = {}): Client {
  return createClient({ url: harness.baseUrl, apiKey: TRADE_SECRET, ...over })
}

/** The first answers come about, and are never heard. */
function loseAnswers(count: number): typeof fetch {
  let lost = 0
  return async (input, init) => {
    const response = await fetch(input, init)
    if (lost === count) return response
    lost++
    await response.text()
    throw new TypeError('the answer was lost')
  }
}

/** A service that cannot answer, and says when to come again. */
function unavailableFor(seconds: number) {
  let requests = 0
  const answer: typeof fetch = async () => {
    requests++
    const error = { code: 'CHAIN_UNAVAILABLE', message: 'busy', details: {}, request_id: 'r1' }
    const headers = { 'retry-after': String(seconds) }
    return Response.json({ error }, { status: 503, headers })
  }
  return { fetch: answer, requests: () => requests }
}

describe('the types', () => {
  it('are those of the operations tables', () => {
    expectTypeOf<Parameters<Client['sendTransaction']>[0]>().toEqualTypeOf<
      OperationInput<'send_transaction'>
    >()
    expectTypeOf<Awaited<ReturnType<Client['getLimits']>>>().toEqualTypeOf<
      OperationOutput<'get_limits'>
    >()
    expectTypeOf<Parameters<ConsoleClient['createKey']>[0]>().toEqualTypeOf<
      ConsoleInput<'create_key'>
    >()
    expectTypeOf<Awaited<ReturnType<ConsoleClient['rotateKey']>>>().toEqualTypeOf<
      ConsoleOutput<'rotate_key'>
    >()
    expectTypeOf<Client['getLimits']>().toBeCallableWith()
  })

  it('and the routes cover every row', () => {
    for (const { name, method, path, movesValue, permission } of operations) {
      const isRepeatable = movesValue || permission === 'read'
      expect(AGENT_ROUTES[name]).toEqual({ method, path, ...(isRepeatable ? { movesValue } : {}) })
    }
    for (const { name, method, path } of consoleOperations) {
      expect(CONSOLE_ROUTES[name]).toEqual({ method, path })
    }
  })
})

describe('a call', () => {
  it('reads and writes', async () => {
    expect(await client().getLimits()).toMatchObject({ daily_limit_usd: expect.any(String) })
    expect(await client().getNativeBalance({ chain_id: 1 })).toMatchObject({ chain_id: 1 })
    await client().getTransactionStatus({ tx_id: 'a/b?c' })
    expect(harness.calls.at(-1)?.input).toEqual({ tx_id: 'a/b?c' })
  })

  it('of a write that is repeated keeps its idempotency key', async () => {
    script.push('SCREENING_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS')
    const from = harness.calls.length
    await client({ fetch: loseAnswers(1), retriesMax: 5 }).sendTransaction(SEND)
    const calls = harness.calls.slice(from)
    expect(calls).toHaveLength(3)
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(calls[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('takes the idempotency key of its caller', async () => {
    await client().sendTransaction(SEND, { idempotencyKey: 'invoice-7' })
    expect(harness.calls.at(-1)?.idempotencyKey).toBe('invoice-7')
  })

  it('is not repeated when that cannot help', async () => {
    script.push('LIMIT_EXCEEDED')
    const from = harness.calls.length
    const error = await client()
      .sendTransaction(SEND)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LimitExceededError)
    expect((error as LimitExceededError).details.period).toBe('daily')
    expect((error as LimitExceededError).retryable).toBe(false)
    expect(harness.calls.length - from).toBe(1)
  })

  it('ends with its own class of error for each kind', async () => {
    script.push('ADDRESS_BLOCKED')
    await expect(client().sendTransaction(SEND)).rejects.toBeInstanceOf(AddressBlockedError)
    await expect(client({ apiKey: 'nonsense' }).getLimits()).rejects.toBeInstanceOf(
      AuthenticationError,
    )
    await expect(client({ apiKey: READ_SECRET }).sendTransaction(SEND)).rejects.toBeInstanceOf(
      PermissionError,
    )
    await expect(client().getNativeBalance({ chain_id: 10 })).rejects.toBeInstanceOf(
      PermissionError,
    )
    await expect(client().sendTransaction({ ...SEND, to: '0x1' })).rejects.toBeInstanceOf(
      InvalidRequestError,
    )
    await expect(client({ url: `${harness.baseUrl}/nowhere` }).getLimits()).rejects.toBeInstanceOf(
      NotFoundError,
    )
    await expect(client({ retriesMax: 0 }).getWalletAddress()).rejects.toBeInstanceOf(
      UnavailableError,
    )
    await expect(
      client({ url: 'http://127.0.0.1:1', retriesMax: 0 }).getLimits(),
    ).rejects.toBeInstanceOf(ConnectionError)
  })

  it('that makes a key is not repeated when its answer is lost: there would be two', async () => {
    const from = harness.calls.length
    const child: OperationInput<'create_child_key'> = {
      name: 'helper',
      permission: 'read',
      allowed_chains: [1],
      daily_limit_usd: '1',
      monthly_limit_usd: '1',
      expires_at: '2100-01-01T00:00:00.000Z',
    }
    await expect(client({ fetch: loseAnswers(1) }).createChildKey(child)).rejects.toBeInstanceOf(
      ConnectionError,
    )
    expect(harness.calls.slice(from).map(({ operation }) => operation)).toEqual([
      'create_child_key',
    ])
  })

  it.each([
    ['the service is busy', 'OVERLOADED'],
    ['the key was frozen', 'FROZEN'],
  ] as const)(
    'of a write whose answer is lost ends in that, though %s by then',
    async (_, code) => {
      script.push('hang up', code, code)
      const from = harness.calls.length
      const error = await client({ fetch: loseAnswers(1), retriesMax: 2 })
        .sendTransaction(SEND)
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ConnectionError)
      const [first] = harness.calls.slice(from)
      expect(error).toMatchObject({ idempotencyKey: first?.idempotencyKey })
      script.length = 0
      const { idempotencyKey } = error as ConnectionError
      await client().sendTransaction(SEND, idempotencyKey === null ? {} : { idempotencyKey })
      expect(harness.calls.at(-1)?.idempotencyKey).toBe(first?.idempotencyKey)
    },
  )

  it('of a write whose outcome is unknown ends in that, though writes are stopped by then', async () => {
    script.push('OUTCOME_UNKNOWN', 'FROZEN')
    const from = harness.calls.length
    const instant: typeof fetch = async (input, init) => {
      const { status, body } = await fetch(input, init)
      return new Response(body, { status })
    }
    const error = await client({ fetch: instant, retriesMax: 1 })
      .sendTransaction(SEND)
      .catch((thrown: unknown) => thrown)
    const keys = harness.calls.slice(from).map(({ idempotencyKey }) => idempotencyKey)
    expect(keys).toHaveLength(2)
    expect(keys[1]).toBe(keys[0])
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', idempotencyKey: keys[0] })
  })

  it('is told of a service that asks for an hour, and does not wait for it', async () => {
    const maintenance = unavailableFor(3_600)
    await expect(client({ fetch: maintenance.fetch }).getLimits()).rejects.toMatchObject({
      name: 'UnavailableError',
      retryAfterSeconds: 3_600,
    })
    expect(maintenance.requests()).toBe(1)
  })

  it('stops when its caller says so', async () => {
    const busy = unavailableFor(50)
    const stop = new AbortController()
    const started = performance.now()
    const calling = client({ fetch: busy.fetch }).getLimits({}, { signal: stop.signal })
    await expect.poll(busy.requests).toBe(1)
    // By then it pauses; before that it would give up as well.
    setTimeout(() => stop.abort(), 100)
    await expect(calling).rejects.toThrow()
    expect(busy.requests()).toBe(1)
    // Else it waits for as long as it was asked to.
    expect(performance.now() - started).toBeLessThan(40_000)
  })
})

describe('waiting for a transaction', () => {
  it('waits for people until they have decided, whatever they say', async () => {
    statuses.push('awaiting_approval', 'awaiting_approval', 'signed')
    const signed = await client().waitForApproval('tx_1', { intervalMs: 10 })
    expect(signed.status).toBe('signed')
    statuses.push('awaiting_approval', 'declined')
    const declined = await client().waitForTransaction('tx_1', { intervalMs: 10 })
    expect(declined.status).toBe('declined')
    expect(statuses).toEqual([])
  })

  it('is what a send does that is told to, and names what it gave up on', async () => {
    const sent = harness.calls.length
    statuses.push('awaiting_approval', 'awaiting_approval', 'declined')
    const declined = await client().send(SEND, { until: 'decided', intervalMs: 10 })
    expect(declined.status).toBe('declined')
    statuses.push('awaiting_approval', 'awaiting_approval', 'signed', 'broadcast', 'confirmed')
    const confirmed = await client().send(SEND, { until: 'final', intervalMs: 10 })
    expect(confirmed.status).toBe('confirmed')
    statuses.push(...Array.from({ length: 50 }, () => 'awaiting_approval'))
    const gaveUp = client().send(SEND, { until: 'final', intervalMs: 10, timeoutMs: 100 })
    await expect(gaveUp).rejects.toMatchObject({ txId: expect.any(String) })
    statuses.length = 0
    const writes = harness.calls.slice(sent).filter((one) => one.operation === 'send_transaction')
    expect(writes).toHaveLength(3)
  })

  it('ends with its final record', async () => {
    statuses.push('signed', 'broadcast', 'failed')
    const record = await client().waitForTransaction('tx_1', { intervalMs: 10 })
    expect(record.status).toBe('failed')
  })

  it('goes on while the service is away, and ends where it will not come back', async () => {
    let requests = 0
    const away: typeof fetch = async (input, init) => {
      requests++
      if (requests === 2) return new Response('starting', { status: 502 })
      if (requests === 3) throw new TypeError('connection refused')
      return fetch(input, init)
    }
    statuses.push('broadcast', 'confirmed')
    const waiting = client({ fetch: away, retriesMax: 0 })
    const record = await waiting.waitForTransaction('tx_1', { intervalMs: 10 })
    expect([record.status, requests]).toEqual(['confirmed', 4])
    const gone = client({ url: 'http://127.0.0.1:1', retriesMax: 0 })
    const gaveUp = gone.waitForTransaction('tx_1', { intervalMs: 10, timeoutMs: 50 })
    await expect(gaveUp).rejects.toMatchObject({ name: 'WaitTimeoutError', txId: 'tx_1' })
    const refused = client({ apiKey: 'nonsense' }).waitForTransaction('tx_1')
    await expect(refused).rejects.toBeInstanceOf(AuthenticationError)
  })

  it('gives up after its time', async () => {
    statuses.push(...Array.from({ length: 50 }, () => 'broadcast'))
    await expect(
      client().waitForTransaction('tx_1', { intervalMs: 10, timeoutMs: 100 }),
    ).rejects.toBeInstanceOf(WaitTimeoutError)
    statuses.length = 0
  })
})

it('the client is one small file for a browser, with nothing of Node and no package in it', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/client/index.ts', 'src/client/verify-webhook.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
    outdir: 'out',
  })
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'))).toEqual([])
  for (const { contents } of outputFiles) expect(contents.byteLength).toBeLessThan(24_576)
})
