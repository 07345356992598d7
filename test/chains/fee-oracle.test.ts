import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFeeOracle, type FeeOracle } from '../../src/chains/fee-oracle.js'
import { parseBlock } from '../../src/chains/heads.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

let anvil: Anvil
let proxy: FaultProxy
let rpc: RpcClient
let oracle: FeeOracle

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 10 })
  proxy = await startFaultProxy({ upstream: anvil.url })
  rpc = createRpcClient({ chainId: 10, endpoints: [proxy.url] })
  oracle = createFeeOracle(rpc, { ceilingWei: 10n ** 12n })
})
afterAll(async () => {
  oracle.close()
  await rpc.close()
  await proxy.close()
  await anvil.stop()
})

async function newHead() {
  await anvil.rpc('anvil_mine', ['0x1'])
  const head = parseBlock(10, await anvil.rpc('eth_getBlockByNumber', ['latest', false]))
  if (head === null) throw new Error('no head')
  return head
}

test('fees are asked once per block and served without waiting', async () => {
  expect(oracle.latest()).toBeNull()
  const [first] = await Promise.all([oracle.quote(), oracle.quote()])
  expect(first.fees.maxFeePerGas).toBe(
    2n * first.head.baseFeePerGas + first.fees.maxPriorityFeePerGas,
  )
  const before = proxy.requests()
  expect(await oracle.quote()).toBe(first)
  oracle.onHead(first.head)
  expect(proxy.requests()).toBe(before)
  const head = await newHead()
  oracle.onHead(head)
  await expect.poll(() => oracle.latest()?.head.number).toBe(head.number)
})

test('an older head from a lagging endpoint does not take the quote back', async () => {
  const now = (await oracle.quote()).head.number
  const head = await newHead()
  proxy.inject({ fault: { kind: 'lag', blocks: 5 } })
  const before = proxy.requests()
  oracle.onHead(head)
  await expect.poll(() => proxy.requests()).toBeGreaterThan(before)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(oracle.latest()?.head.number).toBe(now)
  proxy.clear()
})

test.each([
  ['is not there', -32_601, 'the method eth_feeHistory does not exist/is not available'],
  ['is refused', 15, 'Too many request, try again later'],
])('fees go on by other methods while eth_feeHistory %s', async (_name, code, message) => {
  proxy.inject({ method: 'eth_feeHistory', fault: { kind: 'error', code, message } })
  const bare = createFeeOracle(rpc, { ceilingWei: 10n ** 12n })
  const { fees, head } = await bare.quote()
  expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(2n * head.baseFeePerGas)
  expect(fees.maxPriorityFeePerGas).toBeGreaterThan(0n)
  bare.close()
  proxy.clear()
})
