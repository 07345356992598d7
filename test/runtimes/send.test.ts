import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usualAdapter } from '../../src/http/uws.js'
import { finalOf, type Stack, startStack } from '../e2e/stack.js'

/** The whole stack by the Node that runs this file. */

const BASE = 8453
const RECIPIENT = '0x000000000000000000000000000000000000dEaD'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack?.service.stop())

test('a send is confirmed on every version of Node, by REST and by MCP', async () => {
  const api = stack.service.api()
  const send = { chain_id: BASE, to: RECIPIENT, value: '1000' }
  const sent = await api.post('/api/tx/send', { ...send, data: '0x' })
  expect(sent.status, sent.text).toBe(200)
  const call = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'send_transaction', arguments: { ...send, value: '2000', data: '0x' } },
  }
  const { base_url: baseUrl, keys } = stack.service.dev()
  const called = await fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      'x-api-key': keys.trade.secret,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(call),
  })
  const text = await called.text()
  const [, txId] = /"tx_id\\?":\s*\\?"(tx_\w+)/.exec(text) ?? []
  expect(txId, text).toBeDefined()
  for (const id of [sent.json.tx_id, txId]) {
    expect(await finalOf(api, id)).toMatchObject({ status: 'confirmed' })
  }
})

test('the log says which HTTP server serves', () => {
  const log = readFileSync(join(stack.service.home, 'logs', 'service.log'), 'utf8')
  expect(log).toContain(`"adapter":"${usualAdapter()}"`)
  expect(log.includes('has no native build')).toBe(usualAdapter() === 'node:http')
})
