import { pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { callContract } from '../../src/chains/contract-call.js'
import { createChainReads } from '../../src/chains/reads.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import type { Address } from '../../src/domain/ids.js'
import { type AskedCall, functionNodes, type Said } from '../support/function-nodes.js'

const TOKEN: Address = '0x00000000000000000000000000000000000000A1'
const KNOWN: Address = '0x00000000000000000000000000000000000000b2'
const OWNER: Address = '0x00000000000000000000000000000000000000C3'
const ADDRESSES = { known: KNOWN, token: TOKEN }

/** As providers and nodes say that they will not run a call now. */
const REFUSALS: readonly (readonly [code: number, message: string])[] = [
  [-32007, '50/second request limit reached - reduce calls per second'],
  [15, 'Too many request, try again later'],
  [-32005, 'limit exceeded'],
  [429, 'Your app has exceeded its compute units per second capacity.'],
  [-32000, 'header not found'],
  [-32000, 'missing trie node 5cc1 (path ) state is not available'],
  [-32000, 'execution aborted (timeout = 5s)'],
  [-32000, 'out of gas'],
  [-32001, 'Unauthorized: you must authenticate your request with an API key'],
  [-32601, 'the method eth_call does not exist/is not available'],
  [-32603, 'Internal error'],
  [-32002, 'request timed out'],
  [-32052, 'your plan does not include this call'],
  [3, 'free tier: quota used up'],
  [0, ''],
]

const word = (value: bigint) => pad(`0x${value.toString(16)}`)
const refused =
  ([code, message]: readonly [number, string]) =>
  (): Said => ({ error: { code, message } })
const reverted: Said = { error: { code: 3, message: 'execution reverted', data: '0x' } }
const empty: Said = { result: '0x' }

const well = (call: AskedCall): Said => {
  if (call.method === 'eth_getCode') return { result: '0x60' }
  return { result: word(6n) }
}

function readsOf(...nodes: readonly ((call: AskedCall) => Said)[]) {
  const { client, asked } = functionNodes(8453, ...nodes)
  const reads = createChainReads(client, { knownContract: KNOWN })
  return { client, reads, asked }
}

const UNAVAILABLE = { fault: { code: 'CHAIN_UNAVAILABLE' } }

describe.each(REFUSALS)('a node that says %i %s to calls', (code, message) => {
  const refusing = (call: AskedCall) =>
    call.method === 'eth_call' ? refused([code, message])() : well(call)

  test('says nothing of a token', async () => {
    const { client, reads } = readsOf(refusing)
    await expect(reads.tokenBalance(TOKEN, OWNER)).rejects.toMatchObject(UNAVAILABLE)
    await expect(reads.tokenBalances([TOKEN, KNOWN], OWNER)).rejects.toMatchObject(UNAVAILABLE)
    await expect(reads.tokenMetadata(TOKEN)).rejects.toMatchObject(UNAVAILABLE)
    await expect(callContract(client, TOKEN, '0x01')).rejects.toMatchObject(UNAVAILABLE)
    await client.close()
  })

  test('has another one answer', async () => {
    const { client, reads } = readsOf(refusing, well)
    expect(await reads.tokenBalance(TOKEN, OWNER)).toBe(6n)
    expect(await reads.tokenBalances([TOKEN, KNOWN], OWNER)).toEqual([6n, 6n])
    expect(await reads.tokenMetadata(TOKEN)).toMatchObject({ decimals: 6 })
    await client.close()
  })
})

describe('a revert', () => {
  test('is an answer, and nobody else is asked', async () => {
    const { client, asked } = readsOf(() => reverted, well)
    await client.request('eth_blockNumber', []).catch(() => null)
    const before = asked(1).length
    await expect(callContract(client, TOKEN, '0x01')).rejects.toBeInstanceOf(RpcCallError)
    expect(asked(1).length).toBe(before)
    await client.close()
  })

  test('of balanceOf says that there is no such token, of one in a list that it is not known', async () => {
    const { client, reads } = readsOf((call) => {
      const [asked] = call.params as readonly { readonly to?: string }[]
      return asked?.to === TOKEN ? reverted : well(call)
    })
    expect(await reads.tokenBalance(TOKEN, OWNER)).toBeNull()
    expect(await reads.tokenBalances([TOKEN, KNOWN], OWNER)).toEqual([null, 6n])
    expect(await reads.tokenMetadata(TOKEN)).toBeNull()
    await client.close()
  })
})

describe('no data', () => {
  const emptyOf = (of: keyof typeof ADDRESSES | 'all') => (call: AskedCall) => {
    const [asked] = call.params as readonly { readonly to?: string }[]
    if (call.method !== 'eth_call') return well(call)
    return of === 'all' || asked?.to === ADDRESSES[of] ? empty : well(call)
  }

  test('of an address with code is a fault of a node that has none of the known token either', async () => {
    const { client, reads } = readsOf(emptyOf('all'))
    await expect(reads.tokenBalance(TOKEN, OWNER)).rejects.toMatchObject(UNAVAILABLE)
    await expect(reads.tokenMetadata(TOKEN)).rejects.toMatchObject(UNAVAILABLE)
    await expect(reads.tokenBalances([TOKEN, KNOWN], OWNER)).rejects.toMatchObject(UNAVAILABLE)
    await client.close()
  })

  test('of an address with code says that it is no token, where the known one is read', async () => {
    const { client, reads } = readsOf(emptyOf('token'))
    expect(await reads.tokenBalance(TOKEN, OWNER)).toBeNull()
    expect(await reads.tokenMetadata(TOKEN)).toBeNull()
    expect(await reads.tokenBalances([TOKEN, KNOWN], OWNER)).toEqual([null, 6n])
    await client.close()
  })

  test('of an address with code is asked of another node', async () => {
    const { client, reads } = readsOf(emptyOf('all'), well)
    expect(await reads.tokenBalance(TOKEN, OWNER)).toBe(6n)
    expect(await reads.tokenMetadata(TOKEN)).toMatchObject({ decimals: 6 })
    expect(await callContract(client, TOKEN, '0x01')).toBe(word(6n))
    await client.close()
  })

  test('of an address without code says that it is no token', async () => {
    const { client, reads } = readsOf((call) =>
      call.method === 'eth_getCode' ? { result: '0x' } : emptyOf('token')(call),
    )
    expect(await reads.tokenBalance(TOKEN, OWNER)).toBeNull()
    await client.close()
  })
})

describe('a result of another shape', () => {
  test.each<[string, unknown]>([
    ['eth_call', null],
    ['eth_call', {}],
    ['eth_getBalance', null],
    ['eth_getBalance', '0x'],
    ['eth_getTransactionCount', 'soon'],
    ['eth_estimateGas', null],
    ['eth_getCode', null],
    ['eth_feeHistory', {}],
    ['eth_feeHistory', null],
    ['eth_getLogs', null],
    ['eth_getTransactionReceipt', { blockHash: '0x01', status: '0x1', gasUsed: '0x1', logs: [] }],
    ['eth_getBlockByNumber', { number: '0x1' }],
  ])('of %s (%o) has another node asked', async (method, odd) => {
    const { client, asked } = functionNodes(
      8453,
      () => ({ result: odd }),
      () => reverted,
    )
    await client.request(method, []).catch(() => null)
    expect(asked(1)).toEqual([method])
    await client.close()
  })
})
