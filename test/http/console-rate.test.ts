import { afterEach, expect, test } from 'vitest'
import { CONSOLE_TOKEN, type Harness, type HarnessOptions, startHarness } from './harness.js'

/** What console operations cost of a person's rate. */

let harness: Harness
afterEach(() => harness.server.close())

async function start(options: HarnessOptions = {}): Promise<void> {
  const ratePolicy = { name: 'key', refillPerSecond: 0.01, burst: 50 }
  harness = await startHarness({ ratePolicy, ...options })
}

async function tested(calls: number): Promise<number> {
  const call = { operation: 'send', chain_id: 1, to: `0x${'ab'.repeat(20)}` }
  const response = await fetch(`${harness.baseUrl}/api/v1/agent/keys/key_T/policy/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${CONSOLE_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ calls: Array(calls).fill(call) }),
  })
  return response.status
}

test('a test of a policy counts as many requests as it has calls', async () => {
  await start()
  expect([await tested(40), await tested(40)]).toEqual([200, 429])
})

test('a bucket that is full lets the longest test through, and is empty then', async () => {
  await start()
  expect([await tested(100), await tested(1)]).toEqual([200, 429])
})

test('a list counts as one more request for each 500 records that it looks at', async () => {
  let looks = 0
  const list_audit = () => {
    looks += 5_000
    return { ok: true as const, value: { records: [], next_cursor: null } }
  }
  const list_webhooks = () => {
    looks += 100
    return { ok: true as const, value: { webhooks: [], next_cursor: null } }
  }
  await start({
    console: { list_audit, list_webhooks },
    rowsScanned: () => looks,
    ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 12 },
  })
  const asked = async (path: string) => {
    const headers = { authorization: `Bearer ${CONSOLE_TOKEN}` }
    return fetch(`${harness.baseUrl}/api/v1/agent/${path}`, { headers })
  }
  // A page costs what a request costs.
  for (let i = 0; i < 5; i++) expect((await asked('webhooks')).status).toBe(200)
  expect((await asked('audit?type=webhook.created')).status).toBe(200)
  const refused = await asked('webhooks')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')).toMatch(/;r=0;/)
  // It owes three, and the request itself is one more: a hundred seconds of this bucket's each.
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(300)
})
