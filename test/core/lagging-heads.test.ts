import { expect, test } from 'vitest'
import type { HeadCommand } from '../../actors/account/core/messages.js'
import type { Effect } from '../../actors/sub-wallet/core/messages.js'
import { CHAIN_ID, preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

const TX = txIdOf(1)
const SENT_AT_BLOCK = 1_000

/** A payment that a node took at a height which nodes that are asked later do not have yet. */
async function sent(): Promise<WalletWorld> {
  const world = await openWallet(2_000n)
  const nowMs = START_MS
  const signed = { txHash: '0x1', rawTransaction: '0x1', intentId: '0x1' } as const
  await world.handle(preparedSend(1, 50n), 1)
  await world.handle({
    ...{ type: 'screened', txId: TX, refusal: null, screenedAgainst: [], requoted: null, nowMs },
  })
  const signature = { ...signed, signedAtMs: nowMs }
  await world.handle({ type: 'signed', txId: TX, nonce: 0, signed: signature, nowMs })
  await takenAt(world, SENT_AT_BLOCK, nowMs)
  world.pending = []
  return world
}

async function takenAt(world: WalletWorld, blockNumber: number, nowMs: number): Promise<void> {
  const outcome = { kind: 'accepted' } as const
  const answer = { type: 'broadcast-outcome', txId: TX, txHash: '0x1', outcome } as const
  await world.handle({ ...answer, blockNumber, nowMs })
}

async function headAt(
  world: WalletWorld,
  blockNumber: number,
  afterMs: number,
): Promise<readonly Effect['type'][]> {
  const head: HeadCommand = {
    type: 'head',
    chainId: CHAIN_ID,
    blockNumber,
    fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    gasPriceWei: 1n,
    chainNonce: null,
    finalBlock: null,
    nowMs: START_MS + afterMs,
  }
  const { effects } = await world.handle(head)
  return effects.map(({ type }) => type)
}

test('a payment goes out again although nodes show no new block', async () => {
  const world = await sent()
  expect(await headAt(world, SENT_AT_BLOCK, 5_000)).toEqual([])
  expect(await headAt(world, SENT_AT_BLOCK, 20_000)).toEqual(['broadcast'])
  await takenAt(world, SENT_AT_BLOCK, START_MS + 20_000)
  expect(await headAt(world, SENT_AT_BLOCK, 21_000)).toEqual([])
  expect(await headAt(world, SENT_AT_BLOCK, 40_000)).toEqual(['broadcast'])
})

test('a payment goes out again, and is replaced, while all nodes are behind the height it was sent at', async () => {
  const world = await sent()
  const from = SENT_AT_BLOCK - 97
  expect(await headAt(world, from, 1_000)).toEqual([])
  expect(await headAt(world, from + 4, 5_000)).toEqual(['broadcast'])
  await takenAt(world, from + 4, START_MS + 5_000)
  expect(await headAt(world, from + 12, 13_000)).toEqual(['replace'])
})

test('blocks that come all at once after a pause make no payment more expensive', async () => {
  const world = await sent()
  for (let block = 1; block <= 64; block++) {
    expect(await headAt(world, SENT_AT_BLOCK + block, 1_000)).not.toContain('replace')
  }
})
