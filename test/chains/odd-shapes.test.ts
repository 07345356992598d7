import { describe, expect, test } from 'vitest'
import { createChainReads } from '../../src/chains/reads.js'
import { parseAnswers } from '../../src/chains/rpc/wire.js'
import type { Hex } from '../../src/domain/ids.js'
import { functionNodes, type Said } from '../support/function-nodes.js'

const HASH: Hex = `0x${'aa'.repeat(32)}`
const BLOCK: Hex = `0x${'bb'.repeat(32)}`

const receipt = {
  ...{ transactionHash: HASH, blockHash: BLOCK, blockNumber: '0x10', status: '0x1' },
  ...{ gasUsed: '0x5208', effectiveGasPrice: '0x7', logs: [] },
}
const block = {
  ...{ number: '0x10', hash: BLOCK, parentHash: HASH, timestamp: '0x1' },
  ...{ gasLimit: '0x1c9c380', baseFeePerGas: '0x5', transactions: [] },
}
const transaction = { gasPrice: '0x9', maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x2' }

function readsOf(said: Readonly<Record<string, unknown>>) {
  const { client } = functionNodes(8453, ({ method }): Said => ({ result: said[method] ?? null }))
  return { client, reads: createChainReads(client) }
}

describe('a receipt', () => {
  const { status: _status, effectiveGasPrice: _price, ...bare } = receipt
  const priced = { ...bare, effectiveGasPrice: '0x7' }
  test.each<[string, object, 'success' | 'reverted']>([
    ['the number 1', { ...priced, status: 1 }, 'success'],
    ['the number 0', { ...priced, status: 0 }, 'reverted'],
    ['the digit 1', { ...priced, status: '1' }, 'success'],
    ['the digit 0', { ...priced, status: '0' }, 'reverted'],
    ['a leading zero', { ...priced, status: '0x01' }, 'success'],
    ['true', { ...priced, status: true }, 'success'],
    ['false', { ...priced, status: false }, 'reverted'],
  ])('whose status is %s is read', async (_name, odd, status) => {
    const { client, reads } = readsOf({ eth_getTransactionReceipt: odd })
    expect(await reads.receipts([HASH])).toMatchObject([{ status, feeWei: 21_000n * 7n }])
    await client.close()
  })

  test('whose quantities are numbers is read', async () => {
    const odd = { ...receipt, blockNumber: 16, gasUsed: 21_000, effectiveGasPrice: 7 }
    const { client, reads } = readsOf({ eth_getTransactionReceipt: odd })
    expect(await reads.receipts([HASH])).toMatchObject([{ blockNumber: 16, feeWei: 147_000n }])
    await client.close()
  })

  test.each<[string, object, unknown, bigint]>([
    ['its transaction and block', transaction, block, 7n],
    [
      'the most it allowed, below base fee and tip',
      { ...transaction, maxFeePerGas: '0x6' },
      block,
      6n,
    ],
    [
      'its price, of a block that names no base fee',
      transaction,
      { ...block, baseFeePerGas: null },
      9n,
    ],
    ['its price, of a block that is not had', transaction, null, 9n],
    ['the most it allowed, where nothing else is said', { maxFeePerGas: '0x64' }, null, 100n],
  ])('without a gas price has that of %s', async (_name, of, inBlock, price) => {
    for (const absent of [{}, { effectiveGasPrice: null }]) {
      const { client, reads } = readsOf({
        eth_getTransactionReceipt: { ...bare, status: '0x1', ...absent },
        eth_getTransactionByHash: of,
        eth_getBlockByNumber: inBlock,
      })
      expect(await reads.receipts([HASH])).toMatchObject([{ effectiveGasPrice: price }])
      await client.close()
    }
  })

  test('without a block says that the transaction waits', async () => {
    const waiting = { ...receipt, blockHash: null, blockNumber: null, status: null }
    const { client, reads } = readsOf({ eth_getTransactionReceipt: waiting })
    expect(await reads.receipts([HASH])).toEqual([null])
    await client.close()
  })

  test('without a list of logs does not say that nothing moved', async () => {
    const { client, reads } = readsOf({ eth_getTransactionReceipt: { ...receipt, logs: null } })
    expect(await reads.receipts([HASH])).toMatchObject([{ logs: [], logsTruncated: true }])
    await client.close()
  })
})

describe('a head', () => {
  test.each([
    ['null', { baseFeePerGas: null }],
    ['absent', { baseFeePerGas: undefined }],
  ])('whose base fee is %s is read', async (_name, odd) => {
    const { client, reads } = readsOf({ eth_getBlockByNumber: { ...block, ...odd } })
    expect(await reads.block('latest')).toMatchObject({ number: 16, baseFeePerGas: 0n })
    await client.close()
  })

  test('whose quantities are numbers is read', async () => {
    const odd = { ...block, number: 16, timestamp: 1, baseFeePerGas: 5, gasLimit: 30_000_000 }
    const { client, reads } = readsOf({ eth_getBlockByNumber: odd })
    expect(await reads.block('latest')).toMatchObject({ number: 16, baseFeePerGas: 5n })
    await client.close()
  })
})

test('answers whose ids come back as text are put where they belong', () => {
  const answers = [1, 0].map((id) => ({ jsonrpc: '2.0', id: String(id), result: id }))
  expect(parseAnswers(JSON.stringify(answers), 2)).toEqual([
    { ok: true, value: 0 },
    { ok: true, value: 1 },
  ])
})

test.each(['', '1e0', '0x1', ' 1', '-1', '2', null, true])('the id %o belongs nowhere', (id) => {
  const answers = [{ jsonrpc: '2.0', id, result: 1 }]
  for (const answer of parseAnswers(JSON.stringify(answers), 2) ?? []) expect(answer.ok).toBe(false)
})
