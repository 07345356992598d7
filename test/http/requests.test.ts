import { afterEach, describe, expect, test } from 'vitest'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { AgentContext } from '../../src/operations/context.js'
import {
  CHILD_SECRET,
  CONSOLE_TOKEN,
  consoleTokenOf,
  type Harness,
  type HarnessOptions,
  READ_SECRET,
  readError,
  startHarness,
  TRADE_SECRET,
} from './harness.js'

const SEND = { chain_id: 1, to: `0x${'ab'.repeat(20)}`, value: '1' }

let harness: Harness

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await startHarness(options)
}

afterEach(async () => {
  await harness.server.close()
})

function call(method: string, path: string, headers: Record<string, string> = {}, body?: unknown) {
  const init: RequestInit = {
    method,
    headers: { 'x-api-key': TRADE_SECRET, 'content-type': 'application/json', ...headers },
  }
  if (body !== undefined) init.body = JSON.stringify(body)
  return fetch(harness.baseUrl + path, init)
}

const send = (headers: Record<string, string> = {}, body: unknown = SEND) =>
  call('POST', '/api/tx/send', headers, body)

/** The context of the last keyed request. */
function agentContext(): AgentContext {
  const last = harness.last()
  if (last === null || !('key' in last.context)) throw new Error('no keyed request was served')
  return last.context
}

describe('answers', () => {
  test('carry the headers that the API promises, and no hint of the software', async () => {
    await start()
    const response = await call('GET', '/api/limits')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ operation: 'get_limits' })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('ratelimit')).toBe('"key";r=999;t=1')
    expect(response.headers.get('ratelimit-policy')).toBe('"key";q=1000;w=5')
    expect(response.headers.get('x-powered-by')).toBeNull()
    expect(response.headers.get('uwebsockets')).toBeNull()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a sane request id comes back and reaches the operation', async () => {
    await start()
    const response = await call('GET', '/api/limits', { 'x-request-id': 'trace:1.a-b_C' })
    expect(response.headers.get('x-request-id')).toBe('trace:1.a-b_C')
    expect(agentContext().requestId).toBe('trace:1.a-b_C')
  })

  test.each(['a b', 'x'.repeat(129), 'ü', '<script>', '"'])(
    'a request id that is not sane is replaced: %s',
    async (id) => {
      await start()
      const response = await call('GET', '/api/limits', { 'x-request-id': id })
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
    },
  )

  test('query integers arrive as numbers, path parameters as text', async () => {
    await start()
    await call('GET', '/api/gas/estimate?chain_id=8453')
    expect(harness.last()?.input).toEqual({ chain_id: 8453 })
    await call('GET', '/api/tx/tx_%41')
    expect(harness.last()?.input).toEqual({ tx_id: 'tx_A' })
  })

  test('a read key reads', async () => {
    await start()
    const response = await call('GET', '/api/limits', { 'x-api-key': READ_SECRET })
    expect(response.status).toBe(200)
  })

  test('HEAD answers like GET without the body', async () => {
    await start()
    const response = await call('HEAD', '/api/limits')
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0)
    expect(await response.text()).toBe('')
  })

  test('OPTIONS names the methods and grants no other origin anything', async () => {
    await start()
    const response = await call('OPTIONS', '/api/tx/send', { origin: 'https://example.org' })
    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('405 names what is allowed', async () => {
    await start()
    const response = await call('POST', '/api/limits', {}, {})
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('an operation says its status', async () => {
    await start({
      agent: { send_transaction: () => ({ ok: true, value: { status: 'signed' }, status: 202 }) },
    })
    expect((await send()).status).toBe(202)
  })
})

describe('a long body', () => {
  test('counts as many requests as it is expensive, before it is read into', async () => {
    await start({ ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 80 } })
    const bomb = { ...SEND, data: `0x${'ff'.repeat(100_000)}` }
    expect((await send({}, bomb)).status).toBe(200)
    const refused = await send({}, bomb)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
    expect((await send()).status).toBe(200)
  })

  test('passes a bucket that is smaller than its cost, while it is full', async () => {
    await start({ ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 10 } })
    const bomb = { ...SEND, data: `0x${'ff'.repeat(100_000)}` }
    expect((await send({}, bomb)).status).toBe(200)
    expect((await send()).status).toBe(429)
  })

  test('that does not say its length counts once it is there', async () => {
    await start({ ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 80 } })
    const bomb = JSON.stringify({ ...SEND, data: `0x${'ff'.repeat(100_000)}` })
    const streamed = () =>
      fetch(`${harness.baseUrl}/api/tx/send`, {
        method: 'POST',
        headers: { 'x-api-key': TRADE_SECRET, 'content-type': 'application/json' },
        // Fetch wants it said; its types do not know it.
        ...{ body: new Blob([bomb]).stream(), duplex: 'half' },
      })
    expect((await streamed()).status).toBe(200)
    expect((await streamed()).status).toBe(429)
  })
})

describe('hostile calldata', () => {
  const BOMB = { ...SEND, data: `0x${'ff'.repeat(100_000)}f` }

  test('of a key that may not write is refused before its body is looked at', async () => {
    await start()
    const refused = await send({ 'x-api-key': READ_SECRET }, BOMB)
    expect(await readError(refused)).toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(harness.last()).toBeNull()
  })

  test('for a chain outside the key is refused before it is read as hex', async () => {
    await start()
    const refused = await send({}, { ...BOMB, chain_id: 999 })
    expect(await readError(refused)).toMatchObject({ code: 'CHAIN_NOT_ALLOWED' })
    expect(harness.last()).toBeNull()
  })

  test('that is no hex never reaches the wallet', async () => {
    await start()
    expect(await readError(await send({}, BOMB))).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(harness.last()).toBeNull()
  })
})

describe('idempotency keys', () => {
  test('either header name gives the key, and the same body the same hash', async () => {
    await start()
    await send({ 'idempotency-key': 'k1' }, { ...SEND })
    const first = agentContext().idempotency
    await send({ 'x-idempotency-key': 'k1' }, { value: '1', to: SEND.to, chain_id: 1 })
    expect(agentContext().idempotency).toEqual(first)
    expect(first).toEqual({ key: 'k1', bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  test('another body gives another hash', async () => {
    await start()
    await send({ 'idempotency-key': 'k1' })
    const first = agentContext().idempotency?.bodyHash
    await send({ 'idempotency-key': 'k1' }, { ...SEND, value: '2' })
    expect(agentContext().idempotency?.bodyHash).not.toBe(first)
  })

  test('without a header there is none', async () => {
    await start()
    await send()
    expect(agentContext().idempotency).toBeNull()
  })

  test('both names with one value are one key', async () => {
    await start()
    expect((await send({ 'idempotency-key': 'k', 'x-idempotency-key': 'k' })).status).toBe(200)
  })

  test('a replayed answer says so', async () => {
    await start({ agent: { send_transaction: () => ({ ok: true, value: {}, replayed: true }) } })
    expect((await send()).headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('operations that fail', () => {
  test.each([
    [
      'at once',
      () => ({ ok: false as const, fault: fault('LIMIT_EXCEEDED', { period: 'daily' }) }),
    ],
    [
      'later',
      async () => ({ ok: false as const, fault: fault('LIMIT_EXCEEDED', { period: 'daily' }) }),
    ],
    [
      'by throwing',
      () => {
        throw new FaultError(fault('LIMIT_EXCEEDED', { period: 'daily' }))
      },
    ],
    [
      'by rejecting',
      () => Promise.reject(new FaultError(fault('LIMIT_EXCEEDED', { period: 'daily' }))),
    ],
  ])('a refusal %s reaches the caller with its details', async (_when, handler) => {
    await start({ agent: { send_transaction: handler } })
    const response = await send({ 'x-request-id': 'r1' })
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({
      error: {
        code: 'LIMIT_EXCEEDED',
        message: 'The request would exceed a spend cap of this API key.',
        details: { period: 'daily' },
        request_id: 'r1',
      },
    })
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('the vault is at /secret/path')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the vault is at /secret/path'))],
    ['answers what is not JSON', () => ({ ok: true as const, value: { amount: 1n } })],
  ])('one that %s answers INTERNAL, logs the cause and leaks nothing', async (_how, handler) => {
    await start({ agent: { send_transaction: handler } })
    const response = await send({ 'x-request-id': 'r1' })
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'INTERNAL', request_id: 'r1' } })
    expect(text).not.toMatch(/vault|BigInt|stack|\/src\//)
    expect(harness.logged).toContainEqual(
      expect.objectContaining({ requestId: 'r1', operation: 'send_transaction' }),
    )
  })

  test('internal text of a fault is logged and not sent', async () => {
    const refusal = fault('CHAIN_UNAVAILABLE', {}, undefined, 'node at 10.0.0.7 timed out')
    await start({ agent: { get_limits: () => ({ ok: false, fault: refusal }) } })
    const response = await call('GET', '/api/limits')
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.text()).not.toContain('10.0.0.7')
    expect(JSON.stringify(harness.logged)).toContain('10.0.0.7')
  })
})

describe('keys and tokens', () => {
  test('the proof key is wiped when the request is over', async () => {
    let during: Uint8Array | null = null
    await start({
      agent: {
        send_transaction: async (context) => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          during = new Uint8Array(context.proofKey)
          return { ok: true, value: {} }
        },
      },
    })
    await send()
    expect(during).toEqual(new Uint8Array(32).fill(7))
    expect(agentContext().proofKey).toEqual(new Uint8Array(32))
  })

  test('past its rate a key gets 429 with Retry-After, as do keys it made, and another key is untouched', async () => {
    await start({ ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 2 } })
    await call('GET', '/api/limits')
    await call('GET', '/api/limits')
    const third = await call('GET', '/api/limits')
    expect(third.status).toBe(429)
    expect((await readError(third))?.code).toBe('RATE_LIMITED')
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(third.headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+$/)
    const made = await call('GET', '/api/limits', { 'x-api-key': CHILD_SECRET })
    expect(made.status).toBe(429)
    const other = await call('GET', '/api/limits', { 'x-api-key': READ_SECRET })
    expect(other.status).toBe(200)
  })

  test('failed authentications are metered by address; a right key passes still', async () => {
    await start({ failurePolicy: { name: 'failed', refillPerSecond: 0.01, burst: 1 } })
    const wrong = { 'x-api-key': `sk_test_${'X'.repeat(32)}` }
    expect((await call('GET', '/api/limits', wrong)).status).toBe(401)
    expect((await call('GET', '/api/limits', wrong)).status).toBe(429)
    expect((await call('GET', '/api/limits')).status).toBe(200)
  })

  test('keys that fail keep no console user of the same address out', async () => {
    await start({ failurePolicy: { name: 'failed', refillPerSecond: 0.01, burst: 1 } })
    const wrong = { 'x-api-key': `sk_test_${'X'.repeat(32)}` }
    for (let i = 0; i < 3; i++) await call('GET', '/api/limits', wrong)
    const headers = { authorization: `Bearer ${CONSOLE_TOKEN}` }
    expect((await call('GET', '/api/v1/agent/me', headers)).status).toBe(200)
  })

  test('past its rate an address has no further token verified, but those that were', async () => {
    await start({ failurePolicy: { name: 'failed', refillPerSecond: 0.01, burst: 3 } })
    const ask = (token: string) =>
      call('GET', '/api/v1/agent/me', { authorization: `Bearer ${token}` })
    expect((await ask(CONSOLE_TOKEN)).status).toBe(200)
    for (let i = 0; i < 3; i++) expect((await ask(`forged.${i}.token`)).status).toBe(401)
    const verified = harness.verifications()
    const refused = await ask('forged.again.token')
    expect((await readError(refused))?.code).toBe('RATE_LIMITED')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(CONSOLE_TOKEN)).status).toBe(200)
    expect(harness.verifications()).toBe(verified + 1)
  })

  test('a flood of forged tokens keeps out no user who was at that address before', async () => {
    await start({ failurePolicy: { name: 'failed', refillPerSecond: 0.01, burst: 3 } })
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await call('GET', '/api/v1/agent/me', headers)).status
    }
    expect(await ask(consoleTokenOf('user_1', true))).toBe(200)
    for (let i = 0; i < 3; i++) expect(await ask(consoleTokenOf(`invented_${i}`, false))).toBe(401)
    expect(await ask(consoleTokenOf('invented_4', false))).toBe(429)
    // A token of its own, which was never seen: its session was refreshed meanwhile.
    expect(await ask(consoleTokenOf('user_1', true))).toBe(200)
  })

  test('a flood of forged tokens that name one user leaves the address its rate', async () => {
    const subjectPolicy = { name: 'subject', refillPerSecond: 0.01, burst: 2 }
    await start({
      failurePolicy: { name: 'failed', refillPerSecond: 0.01, burst: 3 },
      subjectPolicy,
    })
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await call('GET', '/api/v1/agent/me', headers)).status
    }
    for (let i = 0; i < 2; i++) expect(await ask(consoleTokenOf('named', false))).toBe(401)
    for (let i = 0; i < 5; i++) expect(await ask(consoleTokenOf('named', false))).toBe(429)
    expect(await ask(consoleTokenOf('newcomer', true))).toBe(200)
  })

  test('a console request reaches its operation as the user', async () => {
    await start()
    const headers = { authorization: `Bearer ${CONSOLE_TOKEN}` }
    const response = await call('POST', '/api/v1/agent/wallets', headers, { name: 'one' })
    expect(response.status).toBe(200)
    expect(harness.last()).toMatchObject({
      context: { userId: 'user_1', token: CONSOLE_TOKEN },
      input: { name: 'one' },
    })
  })

  test('console routes whose input is all in the path need no body', async () => {
    await start()
    const response = await fetch(`${harness.baseUrl}/api/v1/agent/keys/key_9/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${CONSOLE_TOKEN}` },
    })
    expect(response.status).toBe(200)
    expect(harness.last()?.input).toEqual({ key_id: 'key_9' })
  })
})

describe('health', () => {
  test('readyz says which part is down and no more, and that alone stops it', async () => {
    let status: 'down' | 'degraded' = 'degraded'
    await start({
      readiness: [
        { name: 'store', report: () => ({ status: 'up' }) },
        { name: 'disk', report: () => ({ status, reason: 'Little is left.' }) },
      ],
    })
    const parts = { store: { status: 'up' }, disk: { status } }
    const degraded = await call('GET', '/readyz')
    expect(degraded.status).toBe(200)
    expect(await degraded.json()).toEqual({ status: 'ready', draining: false, parts })
    status = 'down'
    const response = await call('GET', '/readyz')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      status: 'not_ready',
      parts: { disk: { status: 'down' } },
    })
    expect((await call('GET', '/healthz')).status).toBe(200)
  })
})
