import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WatcherCommand } from '../../actors/chain-watcher/core/messages.js'
import { createChainWatcherShell } from '../../actors/chain-watcher/shell.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { GasWalletId, Hex } from '../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { openRealStore, type RealStore } from './real-store.js'
import { ATTEMPT, CHAIN_ID, transaction, txIdOf, WALLET_ID } from './wallet-fixtures.js'

const place = (blockNumber: number, blockHash: Hex) => ({ blockNumber, blockHash })

function minedIn(blockNumber: number, blockHash: Hex): MinedIn {
  const { txHash } = ATTEMPT
  return { txHash, blockNumber, blockHash, outcome: 'success', feeWei: 21_000n }
}

function ended(
  n: number,
  blockNumber: number,
  blockHash: Hex,
  over: Parameters<typeof transaction>[1] = {},
) {
  const mined = minedIn(blockNumber, blockHash)
  return transaction(n, { attempts: [ATTEMPT], mined, status: 'confirmed', ...over })
}

describe('where transactions ended', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  const put = (...transactions: readonly Transaction[]) =>
    store.write((writer) => {
      for (const tx of transactions) writer.putTransaction(tx)
    })
  const places = (chainId: number = CHAIN_ID) => [
    ...store.reader.transactions.settledBlocks(chainId),
  ]

  test('is found by block, each block once, by chain', async () => {
    await put(ended(1, 9, '0x0a'), ended(2, 9, '0x0a'), ended(3, 10, '0x0b'))
    await put(ended(4, 9, '0x0a'), ended(5, 9, '0x0c', { status: 'failed' }))
    await put(ended(6, 300, '0x0d', { chainId: 10 }))
    expect(places()).toEqual([place(9, '0x0a'), place(9, '0x0c'), place(10, '0x0b')])
    expect(places(10)).toEqual([place(300, '0x0d')])
    expect(places(1)).toEqual([])
    const found = store.reader.transactions.settledIn(CHAIN_ID, place(9, '0x0a'))
    expect(found.sort()).toEqual([txIdOf(1), txIdOf(2), txIdOf(4)])
    expect(store.reader.transactions.settledIn(CHAIN_ID, place(9, '0x0b'))).toEqual([])
  })

  test('is not noted of what is open, nowhere on the chain, or there as another transaction', async () => {
    await put(
      ended(1, 9, '0x0a', { status: 'broadcast' }),
      ended(2, 9, '0x0a', { status: 'dropped', mined: null }),
      ended(3, 9, '0x0a', { kind: 'swap' }),
    )
    expect(places()).toEqual([])
  })

  test('is known of a transaction that ends in the same block again', async () => {
    const first = ended(1, 9, '0x0a')
    await put(first, ended(2, 9, '0x0a'))
    await put({ ...first, status: 'broadcast', mined: null })
    await put({ ...first, updatedAtMs: first.updatedAtMs + 1 })
    const found = store.reader.transactions.settledIn(CHAIN_ID, place(9, '0x0a'))
    expect(found.sort()).toEqual([txIdOf(1), txIdOf(2)])
  })

  test('is forgotten below a height, however much it is, and other chains are left alone', async () => {
    await put(ended(1, 9, '0x0a'), ended(2, 10, '0x0b'), ended(3, 9, '0x0c', { chainId: 10 }))
    await put(...Array.from({ length: 1_500 }, (_, n) => ended(n + 4, 8, `0x${n}`)))
    const forget = () => store.write((writer) => writer.removeSettlements(CHAIN_ID, 10))
    await forget()
    await forget()
    expect(places()).toEqual([place(10, '0x0b')])
    expect(places(10)).toEqual([place(9, '0x0c')])
  })

  test('gives the watcher what is still there by its record, of sub-wallets and gas wallets', async () => {
    const gasWalletId = 'gw_8453_0' as GasWalletId
    const moved = ended(2, 9, '0x0a')
    await put(ended(1, 9, '0x0a'), moved)
    await put({ ...moved, mined: minedIn(9, '0x0b') })
    await store.write((writer) => {
      writer.putGasTransaction({ gasWalletId, tx: ended(3, 9, '0x0a'), job: null })
    })
    const chain = { config: { id: CHAIN_ID } } as unknown as ChainAccess
    const told: WatcherCommand[] = []
    const shell = createChainWatcherShell({
      reader: store.reader,
      chains: new Map([[CHAIN_ID, chain]]),
      tell: () => {},
      announce: () => {},
      log: { warn: () => {} },
      timers: systemTimers(Date.now),
    })
    const effect = { type: 'recall', block: place(9, '0x0a') } as const
    shell.run(String(CHAIN_ID), effect, (command) => told.push(command))
    await expect.poll(() => told).toHaveLength(1)
    const [answer] = told
    expect(answer?.type === 'recalled' && answer.transactions).toMatchObject([
      { txId: txIdOf(1), owner: WALLET_ID, nonce: 1, mined: place(9, '0x0a') },
      { txId: txIdOf(3), owner: gasWalletId, nonce: 3, mined: place(9, '0x0a') },
    ])
  })
})
