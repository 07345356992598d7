import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { type ChainAccount, fundedAccount } from '../support/chain-account.js'
import { type FaultProxy, type RandomMix, startFaultProxy } from '../support/fault-proxy.js'

let anvil: Anvil
let proxy: FaultProxy
let rpc: RpcClient
let sender: ChainAccount
let accounts = 900

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453, args: ['--no-mining'] })
})
afterAll(() => anvil.stop())

beforeEach(async () => {
  proxy = await startFaultProxy({ upstream: anvil.url, pool: 'geth' })
  rpc = createRpcClient({ chainId: 8453, endpoints: [proxy.url] })
  sender = await fundedAccount(anvil, accounts++)
})
afterEach(async () => {
  await rpc.close()
  await proxy.close()
})

async function mined(): Promise<number> {
  await anvil.rpc('anvil_mine', ['0x1'])
  return Number(await anvil.rpc('eth_getTransactionCount', [sender.address, 'latest']))
}

describe('the pool rules of geth', () => {
  test('a replacement needs ten per cent in both fields', async () => {
    const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
    await rpc.sendRawTransaction(await sender.sign(fees))
    const five = { maxFeePerGas: 10_500_000_000n, maxPriorityFeePerGas: 1_050_000_000n }
    expect(await rpc.sendRawTransaction(await sender.sign(five))).toMatchObject({
      kind: 'underpriced',
      against: 'replacement',
    })
    const onlyFee = { ...fees, maxFeePerGas: 11_250_000_000n }
    expect((await rpc.sendRawTransaction(await sender.sign(onlyFee))).kind).toBe('underpriced')
    const both = { maxFeePerGas: 11_250_000_000n, maxPriorityFeePerGas: 1_125_000_000n }
    expect((await rpc.sendRawTransaction(await sender.sign(both))).kind).toBe('accepted')
  })

  test('a delegated account has one transaction in flight and no gaps', async () => {
    await anvil.rpc('anvil_setCode', [sender.address, `0xef0100${'11'.repeat(20)}`])
    const gapped = await rpc.sendRawTransaction(await sender.sign({ nonce: 1 }))
    expect(gapped).toMatchObject({ kind: 'retry', text: expect.stringContaining('gapped-nonce') })
    // A send to itself would run the delegate, so it goes elsewhere.
    const to = `0x${'22'.repeat(20)}` as const
    expect((await rpc.sendRawTransaction(await sender.sign({ to }))).kind).toBe('accepted')
    const second = await sender.sign({ nonce: 1, to })
    expect(await rpc.sendRawTransaction(second)).toMatchObject({
      kind: 'retry',
      text: expect.stringContaining('in-flight'),
    })
    expect(await mined()).toBe(1)
    expect((await rpc.sendRawTransaction(second)).kind).toBe('accepted')
  })
})

test('a swallowed transaction is accepted and never mined', async () => {
  proxy.inject({ method: 'eth_sendRawTransaction', times: 1, fault: { kind: 'swallow' } })
  const raw = await sender.sign({})
  expect((await rpc.sendRawTransaction(raw)).kind).toBe('accepted')
  expect(await mined()).toBe(0)
})

test('a lagging node answers "latest" as of older blocks', async () => {
  await rpc.sendRawTransaction(await sender.sign({}))
  expect(await mined()).toBe(1)
  const count = () => rpc.request<string>('eth_getTransactionCount', [sender.address, 'latest'])
  expect(await count()).toBe('0x1')
  proxy.inject({ fault: { kind: 'lag', blocks: 1 } })
  expect(await count()).toBe('0x0')
})

describe('a seeded mix of faults', () => {
  const mix: RandomMix = {
    seed: 7,
    entries: [
      { chance: 0.15, method: 'eth_sendRawTransaction', fault: { kind: 'lose-answer' } },
      { chance: 0.1, method: 'eth_sendRawTransaction', fault: { kind: 'http', status: 502 } },
      { chance: 0.1, method: 'eth_sendRawTransaction', fault: { kind: 'http', status: 503 } },
      { chance: 0.05, method: 'eth_sendRawTransaction', fault: { kind: 'cut' } },
      {
        chance: 0.1,
        method: 'eth_sendRawTransaction',
        fault: { kind: 'error', code: -32000, message: 'txpool is full' },
      },
    ],
  }

  test('sending the same bytes until accepted or known mines each exactly once', async () => {
    await rpc.request('eth_chainId', [])
    proxy.setRandom(mix)
    const raws = await Promise.all(
      Array.from({ length: 25 }, (_, nonce) => sender.sign({ nonce, value: 1n })),
    )
    for (const raw of raws) {
      const seen: string[] = []
      while (seen.at(-1) !== 'accepted' && seen.at(-1) !== 'known') {
        const outcome = await rpc.sendRawTransaction(raw)
        seen.push(outcome.kind)
        expect(['accepted', 'known', 'retry', 'indeterminate']).toContain(outcome.kind)
        // The breaker rests after a run of faults; its pause is part of the outcome.
        if (seen.length > 1) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(seen.length).toBeLessThan(200)
      }
    }
    expect(await mined()).toBe(25)
  }, 60_000)
})
