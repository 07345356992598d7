import { afterEach, expect, test } from 'vitest'
import { CONSOLE_TOKEN, type Harness, startHarness } from './harness.js'

/** What console operations cost of a person's rate. */

let harness: Harness
afterEach(() => harness.server.close())

async function start(): Promise<void> {
  harness = await startHarness({ ratePolicy: { name: 'key', refillPerSecond: 0.01, burst: 50 } })
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
