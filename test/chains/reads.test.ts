import { encodeFunctionData, getAddress, pad, stringToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ChainReads, createChainReads } from '../../src/chains/reads.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import { decodeSymbol } from '../../src/chains/token-metadata.js'
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import { decodeRevertReason } from '../../src/contracts/revert-reason.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { fundedAccount } from '../support/chain-account.js'
import { DEPLOYER, deploy, transact } from '../support/deploy.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

let anvil: Anvil
let proxy: FaultProxy
let rpc: RpcClient
let reads: ChainReads
let usdc: Address

const someone = getAddress('0x00000000000000000000000000000000000abcde')

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  proxy = await startFaultProxy({ upstream: anvil.url })
  rpc = createRpcClient({ chainId: 8453, endpoints: [proxy.url] })
  reads = createChainReads(rpc)
  usdc = await deploy(anvil, {
    abi: devUsdc.abi,
    bytecode: devUsdc.bytecode,
    args: ['USD Coin', 'USDC', 6, DEPLOYER],
  })
  const data = encodeFunctionData({ abi: devUsdc.abi, functionName: 'mint', args: [someone, 5n] })
  await transact(anvil, { to: usdc, data })
})
afterAll(async () => {
  await rpc.close()
  await proxy.close()
  await anvil.stop()
})

describe('balances and metadata', () => {
  test('native and token balances of one tick share one request', async () => {
    await rpc.request('eth_chainId', [])
    const before = proxy.requests()
    const [native, token, several] = await Promise.all([
      reads.nativeBalance(someone),
      reads.tokenBalance(usdc, someone),
      reads.tokenBalances([usdc, someone, usdc], someone),
    ])
    expect([native, token, several]).toEqual([0n, 5n, [5n, null, 5n]])
    expect(proxy.requests() - before).toBe(1)
  })

  test('an address without a contract has no token balance, rather than zero', async () => {
    expect(await reads.tokenBalance(someone, someone)).toBeNull()
    expect(await reads.tokenMetadata(someone)).toBeNull()
  })

  test('metadata is asked once', async () => {
    expect(await reads.tokenMetadata(usdc)).toEqual({ decimals: 6, symbol: 'USDC' })
    const before = proxy.requests()
    expect(await reads.tokenMetadata(usdc)).toEqual({ decimals: 6, symbol: 'USDC' })
    expect(proxy.requests()).toBe(before)
  })

  test('bytes32 symbols are read, hostile ones are harmless', () => {
    expect(decodeSymbol(pad(stringToHex('MKR'), { dir: 'right', size: 32 }))).toBe('MKR')
    expect(decodeSymbol('0x')).toBe('')
    expect(decodeSymbol(`0x${'00'.repeat(31)}20${'ff'.repeat(32)}`)).toBe('')
    const spoofed = pad(stringToHex('US\u202eDC\n'), { dir: 'right', size: 32 })
    expect(decodeSymbol(spoofed)).toBe('USDC')
    expect(decodeSymbol(null)).toBe('')
  })
})

describe('code', () => {
  test('tells an empty account, a contract, a precompile and a delegated account apart', async () => {
    const delegated = getAddress('0x00000000000000000000000000000000000D0D0d')
    await anvil.rpc('anvil_setCode', [delegated, `0xef0100${usdc.slice(2)}`])
    expect(await reads.code(someone)).toEqual({ kind: 'none' })
    expect(await reads.code(usdc)).toEqual({ kind: 'contract' })
    expect(await reads.code('0x0000000000000000000000000000000000000100')).toEqual({
      kind: 'contract',
    })
    expect(await reads.code(delegated)).toEqual({
      kind: 'delegated',
      delegate: usdc.toLowerCase(),
    })
    expect(reads.cachedCode(delegated)?.kind).toBe('delegated')
    await anvil.rpc('anvil_setCode', [delegated, '0x'])
    expect((await reads.code(delegated)).kind).toBe('delegated')
    expect(await reads.account(delegated, 0)).toEqual({ code: { kind: 'none' }, nonce: 0 })
    expect(reads.cachedCode(delegated)).toEqual({ kind: 'none' })
  })
})

describe('an account in one view', () => {
  test('is that of the node with the newest head, and none where that has not the block', async () => {
    const late = await startFaultProxy({ upstream: anvil.url })
    const both = createRpcClient({ chainId: 8453, endpoints: [late.url, proxy.url] })
    const behind = createRpcClient({ chainId: 8453, endpoints: [late.url] })
    try {
      const account = getAddress('0x00000000000000000000000000000000000E0E0e')
      await anvil.rpc('anvil_mine', ['0x3'])
      await anvil.rpc('anvil_setCode', [account, `0xef0100${usdc.slice(2)}`])
      await anvil.rpc('anvil_mine', ['0x1'])
      const height = Number(await anvil.rpc('eth_blockNumber', []))
      late.inject({ fault: { kind: 'lag', blocks: 2 } })
      expect(await createChainReads(behind).account(account, height)).toBeNull()
      const old = await createChainReads(behind).account(account, height - 2)
      expect(old?.code).toEqual({ kind: 'none' })
      const own = createChainReads(both)
      const at = await own.account(account, height)
      expect(at).toEqual({ code: { kind: 'delegated', delegate: usdc.toLowerCase() }, nonce: 0 })
      expect(own.cachedCode(account)?.kind).toBe('delegated')
    } finally {
      await both.close()
      await behind.close()
      await late.close()
    }
  })
})

describe('transactions and blocks', () => {
  test('receipts carry what was really paid; one that is not mined is null', async () => {
    const sender = await fundedAccount(anvil, 500)
    const before = await reads.nativeBalance(sender.address)
    const raw = await sender.sign({ to: someone, value: 7n })
    const hash = await rpc.request<Hex>('eth_sendRawTransaction', [raw])
    // The node answers with the hash, and mines a moment later.
    const receipt = await vi.waitFor(
      async () => {
        const [found, missing] = await reads.receipts([hash, `0x${'12'.repeat(32)}`])
        expect(missing).toBeNull()
        expect(found).not.toBeNull()
        return found
      },
      { timeout: 20_000 },
    )
    expect(receipt).toMatchObject({ txHash: hash, status: 'success', gasUsed: 21_000n })
    const after = await reads.nativeBalance(sender.address)
    expect(before - after).toBe(7n + (receipt?.feeWei ?? 0n))
    expect(await reads.transactionCount(sender.address, 'latest')).toBe(1)
    const block = await reads.block(receipt?.blockNumber ?? 0)
    expect(block?.txHashes).toEqual([hash])
    expect(block?.parentHash).toBe((await reads.block((block?.number ?? 1) - 1))?.hash)
    expect(await reads.block(1_000_000)).toBeNull()
  })

  test('an L1 data fee of the OP stack counts as paid', async () => {
    const { parseReceipt } = await import('../../src/chains/receipts.js')
    const hash = `0x${'ab'.repeat(32)}`
    const receipt = parseReceipt({
      transactionHash: hash,
      blockHash: hash,
      blockNumber: '0x1',
      status: '0x0',
      gasUsed: '0x10',
      effectiveGasPrice: '0x2',
      l1Fee: '0x5',
      logs: [],
    })
    expect(receipt).toMatchObject({ status: 'reverted', feeWei: 37n })
  })
})

test('revert reasons are words: strings, panics, custom errors, silence', () => {
  const error = `0x08c379a0${'20'.padStart(64, '0')}${'5'.padStart(64, '0')}${stringToHex('no\u0007pe', { size: 32 }).slice(2)}`
  expect(decodeRevertReason(error)).toBe('nope')
  expect(decodeRevertReason(`0x4e487b71${'11'.padStart(64, '0')}`)).toBe(
    'panic 0x11: arithmetic overflow or underflow',
  )
  expect(decodeRevertReason('0xdeadbeef')).toBe('custom error 0xdeadbeef')
  expect(decodeRevertReason('0x')).toBe('reverted without a reason')
  expect(decodeRevertReason(`0x08c379a0${'20'.padStart(64, '0')}${'f'.repeat(64)}`)).toBe('')
})
