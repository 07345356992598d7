import { describe, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcShapeError } from '../../src/chains/rpc/errors.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'

type Node = (calls: readonly { readonly id: number; readonly method: string }[]) => unknown

/** A client whose endpoints are functions. */
function clientOf(...nodes: readonly Node[]): RpcClient {
  return createRpcClient({
    chainId: 8453,
    endpoints: nodes.map((_, i) => `http://node-${i}`),
    transportTo: (url) => ({
      async post(body) {
        const asked = JSON.parse(body)
        const node = nodes[Number(new URL(url).hostname.slice('node-'.length))]
        const text = JSON.stringify(node?.(Array.isArray(asked) ? asked : [asked]))
        return { status: 200, retryAfter: undefined, text }
      },
      close: () => Promise.resolve(),
    }),
  })
}

const answer = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result })
const CHAIN_ID = '0x2105'

/** Answers the first call of a batch alone, as gateways do that know no batches. */
const firstOnly: Node = ([first]) =>
  answer(0, first?.method === 'eth_chainId' ? CHAIN_ID : `0x${'11'.repeat(32)}`)

const honest: Node = (calls) => {
  const answers = calls.map(({ id, method }) =>
    answer(id, method === 'eth_chainId' ? CHAIN_ID : method),
  )
  return answers.length === 1 ? answers[0] : answers
}

describe('one result for a whole batch', () => {
  const calls = ['eth_gasPrice', 'eth_blockNumber'].map((method) => ({ method, params: [] }))

  test('is nobody’s answer', async () => {
    const client = clientOf(firstOnly)
    for (const result of await client.batch(calls)) {
      expect(result.ok).toBe(false)
      expect(!result.ok && result.error).toBeInstanceOf(RpcShapeError)
    }
    await client.close()
  })

  test('has another endpoint asked', async () => {
    const client = clientOf(firstOnly, honest)
    expect(await client.batch(calls)).toEqual([
      { ok: true, value: 'eth_gasPrice' },
      { ok: true, value: 'eth_blockNumber' },
    ])
    await client.close()
  })

  test('does not say that several sends were taken', async () => {
    const client = clientOf(firstOnly)
    await client.request('eth_chainId', [])
    const outcomes = await Promise.all([
      client.sendRawTransaction('0x01'),
      client.sendRawTransaction('0x02'),
    ])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['indeterminate', 'indeterminate'])
    await client.close()
  })
})

describe('an endpoint that says no chain id at all', () => {
  test('is asked again, since it is on no other chain', async () => {
    let syncing = true
    const client = clientOf((calls) => (syncing ? answer(0, null) : honest(calls)))
    await expect(client.request('eth_gasPrice', [])).rejects.toThrow()
    syncing = false
    expect(await client.request('eth_gasPrice', [])).toBe('eth_gasPrice')
    await client.close()
  })
})
