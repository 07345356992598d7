import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createBatchSize } from '../../src/chains/rpc/batch-size.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node says instead; null: it ends the connection. */
type Said = { readonly status: number; readonly text: string } | null
type Turned = (calls: readonly Call[]) => Said

const MESSAGE = 'Batch of more than 3 requests are not allowed'
const object = (code: number, message: string) =>
  JSON.stringify({ id: null, jsonrpc: '2.0', error: { code, message } })
const errorFor = ({ id }: Call) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32600, message: MESSAGE },
})

const limitFor = ({ id }: Call) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32005, message: 'limit exceeded' },
})

/** How providers turn a batch away that is too long for them. */
const REFUSALS: readonly [how: string, turned: Turned][] = [
  ['500 with an error object', () => ({ status: 500, text: object(31, MESSAGE) })],
  ['200 with an error object', () => ({ status: 200, text: object(-32600, MESSAGE) })],
  ['200 with a result for all', () => ({ status: 200, text: '{"id":0,"result":"0x0"}' })],
  ['413 in words', () => ({ status: 413, text: 'Payload Too Large' })],
  ['400 in words', () => ({ status: 400, text: 'too many calls' })],
  ['503 in words', () => ({ status: 503, text: 'over capacity' })],
  ['an error without an id', () => ({ status: 200, text: `[${object(-32600, MESSAGE)}]` })],
  [
    'an error for each call',
    (calls) => ({ status: 200, text: JSON.stringify(calls.map(errorFor)) }),
  ],
  [
    'a rate limit for each call',
    (calls) => ({ status: 200, text: JSON.stringify(calls.map(limitFor)) }),
  ],
  [
    'an answer to the first call alone',
    (calls) => ({ status: 200, text: JSON.stringify(calls.slice(0, 1).map(answerTo)) }),
  ],
  ['an end of the connection', () => null],
]

const servers: Server[] = []
const clients: RpcClient[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

const HASH = `0x${'ab'.repeat(32)}`

function answerTo({ id, method, params }: Call) {
  const results: Readonly<Record<string, unknown>> = {
    eth_chainId: '0x2105',
    eth_sendRawTransaction: HASH,
  }
  return { jsonrpc: '2.0', id, result: results[method] ?? params[0] }
}

/** A node that takes `limit` calls in a request. */
async function limitedNode(limit: number, turned: Turned) {
  const node = { url: '', requests: [] as number[], raws: [] as unknown[] }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => {
      const asked = JSON.parse(body) as Call | readonly Call[]
      const calls = 'method' in asked ? [asked] : asked
      node.requests.push(calls.length)
      const answers = () => calls.map(answerTo)
      const text = () => JSON.stringify('method' in asked ? answers()[0] : answers())
      const said = calls.length > limit ? turned(calls) : { status: 200, text: text() }
      if (said === null) return void request.socket.destroy()
      response.writeHead(said.status).end(said.text)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}

function open(...endpoints: string[]): RpcClient {
  const client = createRpcClient({ chainId: 8453, endpoints })
  clients.push(client)
  return client
}

const READS = Array.from({ length: 60 }, (_, i) => ({
  method: 'eth_getBalance',
  params: [`0x${i}`],
}))

describe.each(REFUSALS)(
  'an endpoint that answers a batch that is too long with %s',
  (_, turned) => {
    test.each([1, 3, 10])(
      'and takes %i calls, is asked for less until it answers all',
      async (limit) => {
        const node = await limitedNode(limit, turned)
        const client = open(node.url)
        await expect
          .poll(async () =>
            (await client.batch(READS)).map((read) => (read.ok ? read.value : null)),
          )
          .toEqual(READS.map(({ params }) => params[0]))
        const before = node.requests.length
        await client.batch(READS)
        // What it has learnt it keeps: hardly a request is larger than what is taken.
        const tooLong = node.requests.slice(before).filter((calls) => calls > limit)
        expect(tooLong.length).toBeLessThanOrEqual(4)
        expect(client.healthyEndpoints()).toBe(1)
      },
    )

    test('takes what many senders hand over at once', async () => {
      const client = open((await limitedNode(3, turned)).url)
      await client.request('eth_chainId', [])
      const raws = Array.from({ length: 20 }, (_, i) => `0x${(i + 16).toString(16)}` as const)
      const send = () => Promise.all(raws.map((raw) => client.sendRawTransaction(raw)))
      await expect
        .poll(async () => (await send()).map(({ kind }) => kind))
        .toEqual(raws.map(() => 'accepted'))
    })

    test('shows all of its view, in several requests', async () => {
      const client = open((await limitedNode(3, turned)).url)
      await client.request('eth_chainId', [])
      const calls = READS.slice(0, 10)
      await expect.poll(() => client.views(calls)).toEqual([calls.map(({ params }) => params[0])])
    })
  },
)

test('one object for a whole batch is no answer to any of its calls, and another endpoint is asked', async () => {
  const dead = await limitedNode(0, () => ({ status: 200, text: object(-32005, 'limit exceeded') }))
  const well = await limitedNode(100, () => null)
  const mixed = await limitedNode(1, () => ({
    status: 200,
    text: object(-32005, 'limit exceeded'),
  }))
  for (const first of [dead, mixed]) {
    const answers = await open(first.url, well.url).batch(READS)
    expect(answers.map((read) => (read.ok ? read.value : null))).toEqual(
      READS.map(({ params }) => params[0]),
    )
  }
})

test('bytes of a batch without an answer are in doubt, though each is refused by itself', async () => {
  const refusing: Turned = (calls) => {
    if (calls.length > 1) return { status: 500, text: object(31, MESSAGE) }
    const [call] = calls
    if (call?.method === 'eth_chainId') return { status: 200, text: JSON.stringify(answerTo(call)) }
    return { status: 200, text: object(-32000, 'insufficient funds for transfer') }
  }
  const client = open((await limitedNode(0, refusing)).url)
  await client.request('eth_chainId', [])
  const [first, second] = await Promise.all([
    client.sendRawTransaction('0x01'),
    client.sendRawTransaction('0x02'),
  ])
  expect([first.kind, second.kind]).toEqual(['indeterminate', 'indeterminate'])
  expect((await client.sendRawTransaction('0x03')).kind).toBe('rejected')
})

describe('the size of a batch', () => {
  test('is halved by what fails, and never below one', () => {
    const size = createBatchSize(100)
    for (const expected of [50, 25, 12, 6, 3, 1, 1]) {
      size.failed(size.now())
      expect(size.now()).toBe(expected)
    }
  })

  test('grows after full batches in a row, later with each time that it was too much', () => {
    const size = createBatchSize(100)
    size.failed(100)
    const untilGrown = () => {
      const before = size.now()
      let calls = 0
      while (size.now() === before && ++calls < 10_000) size.succeeded(size.now())
      return calls
    }
    const first = untilGrown()
    expect(size.now()).toBe(100)
    size.failed(100)
    size.failed(50)
    expect(untilGrown()).toBeGreaterThan(first)
    expect(size.now()).toBe(50)
  })

  test('settles at what an endpoint takes, and asks for more than that once in many requests', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (limit) => {
        const size = createBatchSize(100)
        let failed = 0
        for (let request = 0; request < 2_000; request++) {
          const calls = size.now()
          if (calls <= limit) size.succeeded(calls)
          else {
            size.failed(calls)
            failed++
          }
        }
        expect(size.now() * 2 > limit || size.now() === 100).toBe(true)
        expect(failed).toBeLessThan(30)
      }),
    )
  })
})
