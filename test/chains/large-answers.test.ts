import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcShapeError } from '../../src/chains/rpc/errors.js'
import { createSimulator } from '../../src/chains/simulate/simulator.js'

/** A node that is well, but answers simulations with more than anyone asked for. */
let server: Server
let url: string
/** Megabytes take their time on a busy machine. */
const PATIENCE_MS = 30_000
const TOO_MUCH = `"0x${'00'.repeat(9 * 1024 * 1024)}"`

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => {
      const result = body.includes('eth_chainId') ? '"0x2105"' : TOO_MUCH
      response.end(`{"jsonrpc":"2.0","id":0,"result":${result}}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
})

test('an answer past the limit fails that call and leaves the endpoint in use', async () => {
  const rpc = createRpcClient({ chainId: 8453, endpoints: [url], timeoutMs: PATIENCE_MS })
  await rpc.request('eth_chainId', [])
  for (let i = 0; i < 5; i++) {
    await expect(rpc.request('debug_traceCall', [])).rejects.toBeInstanceOf(RpcShapeError)
  }
  expect(rpc.healthyEndpoints()).toBe(1)
  expect(await rpc.request('eth_chainId', [])).toBe('0x2105')
  const simulator = createSimulator(rpc, '0x1111111111111111111111111111111111111111')
  expect(await simulator.abilities.methods()).toEqual([])
  await rpc.close()
})
