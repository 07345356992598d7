import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChainReads } from '../../src/chains/reads.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcShapeError } from '../../src/chains/rpc/errors.js'

/** Bytes of the answer to each call, by its parameter; a client takes 16 MiB at a time. */
const SIZES: Readonly<Record<string, number>> = {
  small: 10,
  large: 9 * 1024 * 1024,
  'too large': 17 * 1024 * 1024,
  '0xff': 17 * 1024 * 1024,
}

/** Megabytes take their time on a busy machine. */
const PATIENCE_MS = 30_000

let server: Server
let url: string

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => response.end(answerTo(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
})

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly string[]
}

function answerTo(body: string): string {
  const asked = JSON.parse(body) as Call | readonly Call[]
  const calls = 'method' in asked ? [asked] : asked
  const answers = calls.map(({ id, method, params: [size = ''] }) => {
    const bytes = SIZES[size]
    const sized = bytes === undefined ? null : 'f'.repeat(bytes)
    return { jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x2105' : sized }
  })
  return JSON.stringify('method' in asked ? answers[0] : answers)
}

async function lengthsOf(sizes: readonly string[]): Promise<readonly (number | string)[]> {
  const rpc = createRpcClient({ chainId: 8453, endpoints: [url], timeoutMs: PATIENCE_MS })
  try {
    await rpc.request('eth_chainId', [])
    const calls = sizes.map((size) => ({ method: 'eth_getTransactionReceipt', params: [size] }))
    const answers = await rpc.batch(calls)
    expect(rpc.healthyEndpoints()).toBe(1)
    return answers.map((answer) => {
      if (answer.ok) return String(answer.value).length
      expect(answer.error).toBeInstanceOf(RpcShapeError)
      return 'none'
    })
  } finally {
    await rpc.close()
  }
}

test('answers that are too large together are had one by one', async () => {
  const { small, large } = SIZES
  const sizes = ['small', 'large', 'small', 'large', 'small']
  expect(await lengthsOf(sizes)).toEqual([small, large, small, large, small])
})

test('one that is too large alone costs no other call its answer', async () => {
  const { small } = SIZES
  const sizes = ['small', 'small', 'too large', 'small']
  expect(await lengthsOf(sizes)).toEqual([small, small, 'none', small])
})

test('a receipt that is too large keeps no other back', async () => {
  const rpc = createRpcClient({ chainId: 8453, endpoints: [url], timeoutMs: PATIENCE_MS })
  const reads = createChainReads(rpc)
  expect(await reads.receipts(['0x01', '0xff', '0x02'])).toEqual([null, undefined, null])
  await expect(reads.receipts(['0xff'])).rejects.toBeInstanceOf(RpcShapeError)
  await rpc.close()
})
