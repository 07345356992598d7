import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { argumentsAsMeant } from '../../src/mcp/host-arguments.js'
import { toolRows } from '../../src/mcp/tools.js'
import { TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'
import { modern, postMessage, toolCall } from './message.js'

/** What hosts write for an argument that is absent, or an integer; over MCP and nowhere else. */

const TO = `0x${'aB'.repeat(20).toLowerCase()}`

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({})
})
afterAll(() => harness.server.close())
beforeEach(() => {
  harness.calls.length = 0
})

/** Both eras: the short way, and by way of a progress token the protocol package. */
const WAYS: readonly (readonly [string, (message: object) => ReturnType<typeof postMessage>])[] = [
  ['the short way', (message) => postMessage(harness.mcpUrl, message)],
  [
    'the newest revision',
    (message) => {
      const { body, headers } = modern(message as { readonly params: object })
      return postMessage(harness.mcpUrl, body, headers)
    },
  ],
  [
    'the protocol package',
    (message) => {
      const { params } = message as { readonly params: object }
      const withToken = { ...params, _meta: { progressToken: 7 } }
      return postMessage(harness.mcpUrl, { ...message, params: withToken })
    },
  ],
]

const SEND = { chain_id: 8453, to: TO, value: '1' }

describe.each(WAYS)('by %s', (_name, post) => {
  it.each([
    ['get_defi_markets', { chain_id: null }, {}],
    ['get_defi_markets', { chain_id: '' }, {}],
    ['get_defi_markets', { chain_id: '8453' }, { chain_id: 8453 }],
    ['get_native_balance', { chain_id: '8453' }, { chain_id: 8453 }],
    ['get_wallet_address', null, {}],
    ['get_wallet_address', {}, {}],
    ['send_transaction', { ...SEND, data: null }, SEND],
    ['send_transaction', { ...SEND, data: '' }, SEND],
    ['send_transaction', { ...SEND, idempotency_key: null }, SEND],
    ['send_transaction', { ...SEND, idempotency_key: '' }, SEND],
    ['send_transaction', { ...SEND, chain_id: '8453' }, SEND],
    [
      'execute_swap',
      {
        quote_id: 'q_1',
        chain_id: null,
        token_in: '',
        token_out: null,
        amount_in: '',
        slippage_bps: null,
      },
      { quote_id: 'q_1' },
    ],
  ])('%s takes %j as %j', async (name, args, meant) => {
    const { message } = await post(toolCall(name, args))
    expect(message?.result, JSON.stringify(message)).not.toHaveProperty('isError')
    expect(harness.calls).toEqual([
      expect.objectContaining({ operation: name, input: meant, idempotencyKey: null }),
    ])
  })

  it.each([
    ['get_native_balance', { chain_id: null }],
    ['get_native_balance', null],
    ...['8453x', ' 8453', '08453', '0x2105', '+8453', '-1', '1e3', '8453.0', ''].map(
      (chain_id) => ['get_native_balance', { chain_id }] as const,
    ),
    ['get_native_balance', { chain_id: '9007199254740993' }],
    ['get_native_balance', { chain_id: ['8453'] }],
    ['get_native_balance', { chain_id: 8453, unknown: null }],
    ['get_wallet_address', { idempotency_key: null }],
    ['send_transaction', { ...SEND, to: null }],
    ['send_transaction', { ...SEND, to: '' }],
    ['send_transaction', { ...SEND, value: 1 }],
    ['send_transaction', { ...SEND, idempotency_key: ' ' }],
    ['send_transaction', { ...SEND, idempotency_key: 7 }],
  ] as const)('%s refuses %j', async (name, args) => {
    const { message } = await post(toolCall(name, args))
    expect(message?.result).toMatchObject({ isError: true })
    expect(JSON.stringify(message)).toMatch(/INVALID_REQUEST|CHAIN_NOT_ALLOWED/)
    expect(harness.calls).toEqual([])
  })
})

describe('what was meant', () => {
  it('has the same idempotency fingerprint as what REST would have been sent', async () => {
    const url = harness.mcpUrl
    await postMessage(url, toolCall('send_transaction', { ...SEND, idempotency_key: 'k' }))
    const odd = { ...SEND, chain_id: '8453', data: null, idempotency_key: 'k' }
    await postMessage(url, toolCall('send_transaction', odd))
    const [plain, written] = harness.calls
    expect(written?.bodyHash).toBe(plain?.bodyHash)
    expect(written?.idempotencyKey).toBe('k')
  })

  it('is the very object where nothing was written so, whatever the tool', () => {
    for (const row of toolRows(operations)) {
      const args = { chain_id: 1, to: TO, data: '0x', value: '1', amount: '1', tx_id: 'tx' }
      expect(argumentsAsMeant(row, args)).toBe(args)
    }
  })

  it.each([
    ['simulate_transaction', 'send_transaction'],
    ['send_transaction', 'simulate_transaction'],
  ])('is the same for both tools of one input after %s was called', (first, second) => {
    // Their rows are new, so that nothing is known of them from other calls.
    const [before, after] = [first, second].map((tool) => {
      const row = operations.find(({ name }) => name === tool)
      if (row === undefined) throw new Error('no such operation')
      return { ...row, input: row.input.clone() }
    })
    if (before === undefined || after === undefined) throw new Error('two rows')
    const shared = { ...after, input: before.input }
    const given = { ...SEND, idempotency_key: null }
    argumentsAsMeant(before, given)
    const meant = shared.movesValue ? SEND : given
    expect(argumentsAsMeant(shared, given)).toEqual(meant)
  })

  it('leaves a policy as it came, and reads the chains of a list', () => {
    const row = operations.find(({ name }) => name === 'create_child_key')
    if (row === undefined) throw new Error('no such operation')
    const policy = { per_transaction_usd: null, rules: [] }
    const given = { name: 'x', policy, allowed_chains: ['8453', 1], expires_at: '' }
    expect(argumentsAsMeant(row, given)).toMatchObject({ policy, allowed_chains: [8453, 1] })
    expect(argumentsAsMeant(row, { policy: null })).toEqual({ policy: null })
  })
})

describe('over REST', () => {
  it.each([
    ['/api/tx/send', { ...SEND, data: null }],
    ['/api/tx/send', { ...SEND, data: '' }],
    ['/api/tx/send', { ...SEND, chain_id: '8453' }],
  ])('%s refuses %j', async (path, body) => {
    const answer = await fetch(`${harness.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': TRADE_SECRET },
      body: JSON.stringify(body),
    })
    expect([400, 403]).toContain(answer.status)
    expect(harness.calls).toEqual([])
  })
})
