import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import { PROCESS_TIMERS } from '../../src/chains/rpc/process-timers.js'
import {
  NO_METRICS,
  type RpcClient,
  type RpcClientOptions,
  type RpcMetrics,
} from '../../src/chains/rpc/types.js'
import type { Timers } from '../../src/clock/timers.js'
import { FaultError } from '../../src/errors/fault.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { type ChainAccount, fundedAccount } from '../support/chain-account.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

let anvil: Anvil
let a: FaultProxy
let b: FaultProxy
let client: RpcClient
let sender: ChainAccount
let accounts = 0
const wrongChains: string[] = []
const hedged: string[] = []
const metrics: RpcMetrics = {
  ...NO_METRICS,
  chainId: (label, news) => void (news === 'doubted' && wrongChains.push(label)),
  hedged: (label) => void hedged.push(label),
}
const clients: RpcClient[] = []

/** More than a busy machine takes for an answer; tests in which one runs out give their own. */
const TIMEOUT_MS = 20_000
/** A clock that stands still: no breaker thinks that its pause is over, however slow the machine. */
const STANDING: Timers = {
  ...PROCESS_TIMERS,
  now: () => 0,
  at: (atMs, task) => PROCESS_TIMERS.at(Date.now() + atMs, task),
}

function open(endpoints: string[], given: Partial<RpcClientOptions> = {}): RpcClient {
  const options = { chainId: 8453, endpoints, timeoutMs: TIMEOUT_MS, metrics, ...given }
  const opened = createRpcClient(options)
  clients.push(opened)
  return opened
}

/** Whichever answers first is asked until then; from then on it is the first. */
async function bothReady(): Promise<void> {
  await client.request('eth_chainId', [])
  await expect.poll(() => client.healthyEndpoints()).toBe(2)
}

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453, args: ['--no-mining'] })
})
afterAll(() => anvil.stop())

beforeEach(async () => {
  a = await startFaultProxy({ upstream: anvil.url })
  b = await startFaultProxy({ upstream: anvil.url })
  client = open([a.url, b.url])
  sender = await fundedAccount(anvil, accounts++)
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((c) => c.close()))
  await Promise.all([a.close(), b.close()])
})

async function nodeHolds(raw: `0x${string}`): Promise<boolean> {
  return (await anvil.rpc('eth_getTransactionByHash', [keccak256(raw)])) !== null
}

describe('reads', () => {
  test('calls of one tick travel in one HTTP request', async () => {
    await bothReady()
    const before = a.requests()
    const answers = await Promise.all([
      client.request<string>('eth_chainId', []),
      client.request<string>('eth_blockNumber', []),
      client.batch([{ method: 'eth_gasPrice', params: [] }]),
    ])
    expect(answers[0]).toBe('0x2105')
    expect(answers[2][0]?.ok).toBe(true)
    expect(a.requests() - before).toBe(1)
  })

  test('more than a hundred calls split into several requests and keep their order', async () => {
    const calls = Array.from({ length: 250 }, (_, i) => ({
      method: 'eth_getStorageAt',
      params: [sender.address, `0x${i.toString(16)}`, 'latest'],
    }))
    const answers = await open([a.url]).batch(calls)
    expect(answers.filter((answer) => answer.ok)).toHaveLength(250)
  })

  test('the node’s own error reaches the caller of that call alone', async () => {
    const [bad, good] = await client.batch([
      { method: 'eth_getBalance', params: ['nonsense', 'latest'] },
      { method: 'eth_chainId', params: [] },
    ])
    expect(bad?.ok === false && bad.error).toBeInstanceOf(RpcCallError)
    expect(good?.ok).toBe(true)
  })

  test('a view is all of one endpoint: one that fails in part has no view', async () => {
    const calls = [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getTransactionCount', params: [sender.address, 'latest'] },
    ]
    expect(await client.views(calls)).toEqual([
      ['0x2105', '0x0'],
      ['0x2105', '0x0'],
    ])
    const fault = { kind: 'error', code: -32000, message: 'header not found' } as const
    a.inject({ method: 'eth_getTransactionCount', fault })
    const before = a.requests()
    expect(await client.views(calls)).toEqual([['0x2105', '0x0']])
    expect(a.requests() - before).toBe(1)
    expect(await open(['http://127.0.0.1:1']).views(calls)).toEqual([])
  })

  test('a dead endpoint is replaced by the next', async () => {
    await bothReady()
    a.inject({ fault: { kind: 'cut' } })
    expect(await client.request('eth_chainId', [])).toBe('0x2105')
  })

  test('a slow endpoint is hedged by the second after its usual answer time', async () => {
    await bothReady()
    for (let i = 0; i < 20; i++) await client.request('eth_chainId', [])
    a.inject({ fault: { kind: 'hang', forward: false } })
    hedged.length = 0
    expect(await client.request('eth_chainId', [])).toBe('0x2105')
    // By when, `patience.test.ts` holds against a clock of its own.
    expect(hedged).toEqual(['1:127.0.0.1'])
  })

  test.each([429, 500, 502, 503])('HTTP %i is passed over to the next endpoint', async (status) => {
    await bothReady()
    a.inject({ times: 1, fault: { kind: 'http', status, retryAfterSeconds: 1 } })
    expect(await client.request('eth_chainId', [])).toBe('0x2105')
  })

  test('a single endpoint that is rate-limited for a moment is waited for', async () => {
    const single = open([a.url])
    await single.request('eth_chainId', [])
    a.inject({ times: 1, fault: { kind: 'http', status: 429, retryAfterSeconds: 1 } })
    expect(await single.request('eth_chainId', [])).toBe('0x2105')
  })

  test('an error of the endpoint, not of the call, is asked of the next', async () => {
    await bothReady()
    a.inject({ fault: { kind: 'error', code: -32000, message: 'header not found' } })
    expect(await client.request('eth_gasPrice', [])).toMatch(/^0x/)
  })

  test('no endpoint answering is CHAIN_UNAVAILABLE, and the breaker then fails fast', async () => {
    const soon = open([a.url, b.url], { timers: STANDING })
    await soon.request('eth_chainId', [])
    a.inject({ fault: { kind: 'cut' } })
    b.inject({ fault: { kind: 'cut' } })
    for (let i = 0; i < 4; i++) {
      await expect(soon.request('eth_chainId', [])).rejects.toBeInstanceOf(FaultError)
    }
    const before = a.requests() + b.requests()
    await expect(soon.request('eth_chainId', [])).rejects.toBeInstanceOf(FaultError)
    expect(a.requests() + b.requests()).toBe(before)
    expect(soon.healthyEndpoints()).toBe(0)
  })

  test('an open breaker closes again by a probe when the endpoint is back', async () => {
    const single = open([a.url])
    await single.request('eth_chainId', [])
    a.inject({ fault: { kind: 'cut' } })
    for (let i = 0; i < 3; i++) await single.request('eth_chainId', []).catch(() => null)
    expect(single.healthyEndpoints()).toBe(0)
    a.clear()
    await expect.poll(() => single.request('eth_chainId', []).catch(() => null)).toBe('0x2105')
  })

  test('a probe that fails while another endpoint is ready goes unnoticed', async () => {
    a.inject({ fault: { kind: 'cut' } })
    const ask = async () => expect(await client.request('eth_chainId', [])).toBe('0x2105')
    await expect.poll(async () => ask().then(() => client.healthyEndpoints())).toBe(1)
    const tried = a.requests()
    // Vitest fails a run with a rejection that nobody handles.
    const probed = async () => ask().then(() => a.requests() > tried)
    await expect.poll(probed).toBe(true)
  })

  test('an endpoint of another chain is out, and says so', async () => {
    wrongChains.length = 0
    const other = await startAnvil({ chainId: 10 })
    try {
      const mixed = open([other.url, a.url])
      expect(await mixed.request('eth_chainId', [])).toBe('0x2105')
      // The other endpoint may have answered before this one said where it belongs.
      await expect.poll(() => wrongChains).toEqual(['0:127.0.0.1'])
      await expect.poll(() => mixed.healthyEndpoints()).toBe(1)
      const wrong = open([other.url])
      await expect(wrong.request('eth_chainId', [])).rejects.toBeInstanceOf(FaultError)
    } finally {
      await other.stop()
    }
  })

  test('a full queue turns further calls away at once', async () => {
    const small = open([a.url], { queuedReadsMax: 3 })
    const settled = await small.batch(
      Array.from({ length: 5 }, () => ({ method: 'eth_chainId', params: [] })),
    )
    expect(settled.map((answer) => answer.ok)).toEqual([true, true, true, false, false])
    const last = settled[4]
    expect(last?.ok === false && last.error instanceof FaultError && last.error.fault.code).toBe(
      'OVERLOADED',
    )
  })

  test('closing settles what waits', async () => {
    const waiting = client.request('eth_chainId', [])
    await client.close()
    await expect(waiting).rejects.toBeInstanceOf(FaultError)
  })
})

describe('broadcasts', () => {
  test('many sends of one tick travel in one request and are all taken', async () => {
    await bothReady()
    const raws = await Promise.all(Array.from({ length: 20 }, (_, nonce) => sender.sign({ nonce })))
    const before = a.requests()
    const outcomes = await Promise.all(raws.map((raw) => client.sendRawTransaction(raw)))
    expect(outcomes.every((outcome) => outcome.kind === 'accepted')).toBe(true)
    expect(a.requests() - before).toBe(1)
  })

  test('what waits when the client closes was refused by nobody, and may go out again', async () => {
    const raw = await sender.sign({})
    const [one, everywhere] = [client.sendRawTransaction(raw), client.sendEverywhere(raw)]
    await client.close()
    expect((await one).kind).toBe('retry')
    expect(await everywhere).toMatchObject({ isTaken: false, otherwise: { kind: 'retry' } })
    expect((await client.sendRawTransaction(raw)).kind).toBe('retry')
    expect(await nodeHolds(raw)).toBe(false)
  })

  test('sent twice is known, not an error', async () => {
    const raw = await sender.sign({})
    expect(await client.sendRawTransaction(raw)).toEqual({ kind: 'accepted' })
    expect(await client.sendRawTransaction(raw)).toEqual({ kind: 'known' })
  })

  test('an answer lost after the node took it is found by the second endpoint', async () => {
    await bothReady()
    const raw = await sender.sign({})
    a.inject({ method: 'eth_sendRawTransaction', fault: { kind: 'lose-answer' } })
    expect((await client.sendRawTransaction(raw)).kind).toBe('known')
  })

  test('an answer lost with nobody else to ask is indeterminate, and the node has it', async () => {
    const single = open([a.url])
    await single.request('eth_chainId', [])
    const raw = await sender.sign({})
    a.inject({ method: 'eth_sendRawTransaction', times: 1, fault: { kind: 'lose-answer' } })
    expect((await single.sendRawTransaction(raw)).kind).toBe('indeterminate')
    expect(await nodeHolds(raw)).toBe(true)
    expect((await single.sendRawTransaction(raw)).kind).toBe('known')
  })

  test('a time-out is indeterminate', async () => {
    const single = open([a.url], { timeoutMs: 2_000 })
    await expect.poll(() => single.request('eth_chainId', []).catch(() => null)).toBe('0x2105')
    a.inject({ method: 'eth_sendRawTransaction', fault: { kind: 'hang', forward: true } })
    const raw = await sender.sign({})
    expect((await single.sendRawTransaction(raw)).kind).toBe('indeterminate')
    await expect.poll(() => nodeHolds(raw)).toBe(true)
  })

  test('a rate limit is retry: nothing was taken', async () => {
    const single = open([a.url])
    await single.request('eth_chainId', [])
    a.inject({ method: 'eth_sendRawTransaction', fault: { kind: 'http', status: 429 } })
    const raw = await sender.sign({})
    expect((await single.sendRawTransaction(raw)).kind).toBe('retry')
    expect(await nodeHolds(raw)).toBe(false)
  })

  test.each([403, 500, 502, 503])(
    'HTTP %i is indeterminate: it may have forwarded',
    async (status) => {
      const single = open([a.url])
      await single.request('eth_chainId', [])
      a.inject({ method: 'eth_sendRawTransaction', fault: { kind: 'http', status } })
      expect((await single.sendRawTransaction(await sender.sign({}))).kind).toBe('indeterminate')
    },
  )

  test('no funds at two nodes is a rejection, at one node alone it is not', async () => {
    await bothReady()
    const raw = await sender.sign({ value: 10n ** 30n })
    expect(await client.sendRawTransaction(raw)).toMatchObject({
      kind: 'rejected',
      reason: 'insufficient-funds',
    })
    a.inject({
      method: 'eth_sendRawTransaction',
      fault: { kind: 'error', code: -32000, message: 'insufficient funds for transfer' },
    })
    expect((await client.sendRawTransaction(await sender.sign({}))).kind).toBe('accepted')
  })

  test('real refusals of anvil are understood', async () => {
    expect(await client.sendRawTransaction(await sender.sign({ gas: 20_000n }))).toMatchObject({
      kind: 'rejected',
      reason: 'intrinsic-gas',
    })
    expect(await client.sendRawTransaction(await sender.sign({ gas: 10n ** 12n }))).toMatchObject({
      kind: 'rejected',
      reason: 'gas-limit',
    })
    expect(
      await client.sendRawTransaction(
        await sender.sign({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }),
      ),
    ).toMatchObject({ kind: 'underpriced', against: 'floor' })
    await client.sendRawTransaction(await sender.sign({ value: 1n }))
    const cheaper = await sender.sign({ value: 2n, maxFeePerGas: 9_000_000_000n })
    expect(await client.sendRawTransaction(cheaper)).toMatchObject({
      kind: 'underpriced',
      against: 'replacement',
    })
    await anvil.rpc('anvil_mine', [])
    expect((await client.sendRawTransaction(await sender.sign({ value: 3n }))).kind).toBe(
      'nonce-too-low',
    )
    expect(await client.sendRawTransaction('0x02f8')).toMatchObject({ kind: 'rejected' })
    expect(await client.sendRawTransaction('0xzz')).toMatchObject({ kind: 'rejected' })
  })

  test('scripted refusals of production pools are understood', async () => {
    await bothReady()
    for (const message of [
      'in-flight transaction limit reached for delegated accounts',
      'txpool is full',
    ]) {
      for (const proxy of [a, b]) {
        proxy.inject({
          method: 'eth_sendRawTransaction',
          times: 1,
          fault: { kind: 'error', code: -32000, message },
        })
      }
      expect((await client.sendRawTransaction(await sender.sign({}))).kind).toBe('retry')
    }
  })

  test('nobody reachable is retry, and never throws', async () => {
    const nowhere = open(['http://127.0.0.1:1'])
    expect((await nowhere.sendRawTransaction(await sender.sign({}))).kind).toBe('retry')
  })

  test('a batch refused as a whole says of none of its sends that it was not taken', async () => {
    const single = open([a.url])
    await single.request('eth_chainId', [])
    a.inject({ times: 1, method: 'eth_sendRawTransaction', fault: { kind: 'http', status: 413 } })
    const refused = { kind: 'error', code: -32000, message: 'insufficient funds' } as const
    a.inject({ times: 2, method: 'eth_sendRawTransaction', fault: refused })
    const raws = await Promise.all([sender.sign({ nonce: 0 }), sender.sign({ nonce: 1 })])
    const outcomes = await Promise.all(raws.map((raw) => single.sendRawTransaction(raw)))
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['indeterminate', 'indeterminate'])
  })
})
