import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { give, newWallet } from '../defi/sponsored-wallet.js'
import type { ReplyBody } from '../support/http-client.js'
import { newAddress } from './chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const BASE = 8453
const RESERVED = ['reserved_usd', 'daily_used_usd'] as const
/** The machine does other things as well, for seconds at times. */
const TRIES_MAX = 3

let stack: Stack
let key: IssuedKey
let other: IssuedKey

beforeAll(async () => {
  stack = await startStack()
  key = await issueKey(stack)
  // Of another wallet: what waits behind a slow call of its own wallet is no stranger.
  const wallet = await newWallet(stack)
  await give(stack, BASE, wallet.address, '1', 'native')
  other = wallet.key
})
afterAll(() => stack?.service.stop())

const call = () => ({ chain_id: BASE, to: newAddress(), value: '1000' })

function send(fault: string, body: object = call(), more: Record<string, string> = {}) {
  return key.api.call('POST', '/api/tx/send', {
    body,
    headers: { 'countersign-fault': fault, ...more },
  })
}

async function limits(): Promise<unknown> {
  const { json } = await key.api.get('/api/limits')
  return RESERVED.map((name) => json[name])
}

async function eventsOf(txId: unknown): Promise<string[]> {
  const { json } = await stack.owner.get('/events?limit=100&after=0')
  const events = (json as { events?: { type: string; data: { tx_id?: string } }[] }).events ?? []
  return events.filter(({ data }) => data.tx_id === txId).map(({ type }) => type)
}

describe('a write that asks for a fault', () => {
  test.each([
    ['feed-stale', 422, 'PRICE_UNAVAILABLE'],
    ['cosigner-away', 503, 'COSIGNER_UNAVAILABLE'],
    ['screening-away', 503, 'SCREENING_UNAVAILABLE'],
  ])('%s is refused as by the real one, and holds nothing', async (fault, status, code) => {
    const before = await limits()
    const body = call()
    const idempotent = { 'idempotency-key': `drill-${fault}` }
    const refused = await send(fault, body, idempotent)
    expect(refused.status, refused.text).toBe(status)
    expect(refused.json.error?.code).toBe(code)
    expect(await limits()).toEqual(before)
    const again = await key.api.call('POST', '/api/tx/send', { body, headers: idempotent })
    expect(again.status, again.text).toBe(200)
    await finalOf(key.api, String(again.json.tx_id))
  })

  test('slow-node is answered seconds later, and nobody else waits', async () => {
    let waited = true
    for (let turn = 0; waited && turn < TRIES_MAX; turn++) {
      let answered = false
      const slow = send('slow-node').finally(() => {
        answered = true
      })
      const plain = await other.api.post('/api/tx/send', call())
      expect(plain.status, plain.text).toBe(200)
      waited = answered
      const { status, json, text } = await slow
      expect(status, text).toBe(200)
      expect((await finalOf(key.api, String(json.tx_id))).status).toBe('confirmed')
    }
    expect(waited).toBe(false)
  })

  test('dropped-broadcast is signed, and lands once, under its first hash', async () => {
    const { status, json, text } = await send('dropped-broadcast')
    expect(status, text).toBe(202)
    expect(json.status).toBe('signed')
    const plain = await other.api.post('/api/tx/send', call())
    expect(plain.status, plain.text).toBe(200)
    const final: ReplyBody = await finalOf(key.api, String(json.tx_id))
    expect(final).toMatchObject({ status: 'confirmed', tx_hash: json.tx_hash })
  })

  test('reorg is confirmed, broadcast and confirmed again, with its events', async () => {
    const { status, json, text } = await send('reorg')
    expect(status, text).toBe(200)
    const { tx_id: txId } = json
    await finalOf(key.api, String(txId))
    // Its block may be gone before the limits are read: then they are those of the end.
    const used = await vi.waitFor(
      async () => {
        const now = await limits()
        expect(now).toEqual(['0.00', expect.any(String)])
        return now
      },
      { timeout: 60_000, interval: 100 },
    )
    await vi.waitFor(
      async () => {
        const types = await eventsOf(txId)
        expect(types.filter((type) => type === 'transaction.confirmed')).toHaveLength(2)
      },
      { timeout: 60_000, interval: 250 },
    )
    expect((await finalOf(key.api, String(txId))).tx_hash).toBe(json.tx_hash)
    expect(await limits()).toEqual(used)
  })

  test('what is unknown is refused by name, and nothing is done', async () => {
    const { status, json } = await send('meteor')
    expect(status).toBe(400)
    expect(json.error?.code).toBe('INVALID_REQUEST')
    expect(JSON.stringify(json.error?.details)).toContain('dropped-broadcast')
  })

  test('of MCP meets the call as well', async () => {
    const tool = (args: object, fault: string) =>
      key.api.call('POST', '/mcp', {
        body: {
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'send_transaction', arguments: args },
        },
        headers: {
          accept: 'application/json, text/event-stream',
          'countersign-fault': fault,
        },
      })
    expect((await tool(call(), 'cosigner-away')).text).toContain('COSIGNER_UNAVAILABLE')
    expect((await tool(call(), 'meteor')).text).toContain('INVALID_REQUEST')
  })

  test('sponsored, that would hold back other calls of its gas wallet is refused', async () => {
    const refused = await key.api.call('POST', '/api/swap/execute', {
      body: { quote_id: 'sq_none' },
      headers: { 'countersign-fault': 'slow-node' },
    })
    expect(refused.json.error?.code).toBe('INVALID_REQUEST')
    expect(refused.text).toContain('Countersign-Fault')
  })
})
