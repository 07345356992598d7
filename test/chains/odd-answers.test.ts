import { describe, expect, test } from 'vitest'
import { createContractEvents } from '../../src/chains/contract-events.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcShapeError } from '../../src/chains/rpc/errors.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

type Node = (calls: readonly Call[]) => unknown

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
const firstOnly: Node = (calls) =>
  calls.length === 1 ? honest(calls) : answer(0, `0x${'11'.repeat(32)}`)

const honest: Node = (calls) => {
  const answers = calls.map(({ id, method }) =>
    answer(id, method === 'eth_chainId' ? CHAIN_ID : method),
  )
  return answers.length === 1 ? answers[0] : answers
}

describe('one result for a whole batch', () => {
  const calls = ['eth_gasPrice', 'eth_blockNumber'].map((method) => ({ method, params: [] }))

  test.each([
    ['that answers each by itself', [firstOnly]],
    ['beside which there is another', [firstOnly, honest]],
  ])('is nobody’s answer, of an endpoint %s', async (_, nodes) => {
    const client = clientOf(...nodes)
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

describe('the events of a contract', () => {
  const CONTRACT = `0x${'c0'.repeat(20)}` as const
  const TOPIC = `0x${'aa'.repeat(32)}` as const
  const hash = `0x${'bb'.repeat(32)}`
  const block = {
    ...{ number: '0x64', hash, parentHash: hash, timestamp: '0x1' },
    ...{ gasLimit: '0x1', transactions: [] },
  }
  const event = {
    ...{ address: CONTRACT, topics: [TOPIC], data: '0x' },
    ...{ blockNumber: '0x60', logIndex: '0x0' },
  }
  const nodeOf =
    (logs: unknown, last: object): Node =>
    (calls) => {
      const answers = calls.map(({ id, method }) => {
        if (method === 'eth_chainId') return answer(id, CHAIN_ID)
        return method === 'eth_getLogs' ? answer(id, logs) : { jsonrpc: '2.0', id, ...last }
      })
      return answers.length === 1 ? answers[0] : answers
    }
  const limited = { error: { code: -32005, message: 'limit exceeded' } }
  const has = { result: block }
  const noBatches = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } }

  test.each<[string, Node, Node]>([
    ['refuses to name the last block', nodeOf([], limited), nodeOf([event], has)],
    ['does not have the last block', nodeOf([], { result: null }), nodeOf([event], has)],
    ['answers no list', nodeOf(null, has), nodeOf([event], has)],
  ])('are none of a node that %s', async (_name, lagging, other) => {
    const client = clientOf(lagging, other)
    const { events, through } = await createContractEvents(client, CONTRACT, [TOPIC]).range(1, 100)
    expect(events).toMatchObject([{ blockNumber: 96 }])
    expect(through.number).toBe(100)
    await client.close()
  })

  test('are not had while no node has their last block', async () => {
    const client = clientOf(nodeOf([], { result: null }), nodeOf([event], limited))
    await expect(
      createContractEvents(client, CONTRACT, [TOPIC]).range(1, 100),
    ).rejects.toBeInstanceOf(RpcShapeError)
    await client.close()
  })

  test('are asked of one node, where it answers for them', async () => {
    let asked = 0
    const client = clientOf(nodeOf([event], has), (calls) => {
      asked += calls.filter(({ method }) => method === 'eth_getLogs').length
      return nodeOf([event], has)(calls)
    })
    await createContractEvents(client, CONTRACT, [TOPIC]).range(1, 100)
    expect(asked).toBe(0)
    await client.close()
  })

  test('are had from a single node that answers no batches', async () => {
    const one = nodeOf([event], has)
    const client = clientOf((calls) => (calls.length === 1 ? one(calls) : noBatches))
    const { events } = await createContractEvents(client, CONTRACT, [TOPIC]).range(1, 100)
    expect(events).toMatchObject([{ blockNumber: 96 }])
    await client.close()
  })

  test('are not put together of what two nodes answer apart', async () => {
    const alone =
      (node: Node): Node =>
      (calls) =>
        calls.length === 1 ? node(calls) : noBatches
    const behind = alone(nodeOf([], limited))
    const client = clientOf(behind, alone(nodeOf([event], has)))
    const { events } = await createContractEvents(client, CONTRACT, [TOPIC]).range(1, 100)
    expect(events).toMatchObject([{ blockNumber: 96 }])
    await client.close()
    const lagging = clientOf(behind, behind)
    await expect(
      createContractEvents(lagging, CONTRACT, [TOPIC]).range(1, 100),
    ).rejects.toMatchObject({ fault: { code: 'CHAIN_UNAVAILABLE' } })
    await lagging.close()
  })
})
