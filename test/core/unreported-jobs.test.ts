import { expect, test } from 'vitest'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type {
  GasWalletCommand,
  GasWalletEffect,
  GasWalletEvent,
} from '../../actors/gas-wallet/core/messages.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { loadGasWallet, recordGasWallet } from '../../actors/gas-wallet/record.js'
import { unreportedJobs } from '../../actors/gas-wallet/unreported-jobs.js'
import { gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasJob } from '../../src/domain/sponsorship.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import {
  ADDRESS,
  CHAIN_ID,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import { ROUTER } from './wallet-world.js'
import { World } from './world.js'

type GasWorld = World<GasWalletState, GasWalletCommand, GasWalletEvent, GasWalletEffect>

const ID = gasWalletId(CHAIN_ID, 0)
const txId = txIdOf(1)
const nowMs = START_MS
const TX_HASH = '0x01'
const MINED: MinedIn = {
  ...{ txHash: TX_HASH, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'success', feeWei: 1n },
}
const ELSEWHERE: MinedIn = { ...MINED, blockNumber: 2, blockHash: '0x0c', outcome: 'reverted' }

/** A gas wallet whose one job, an execution or a cancellation, is mined and final. */
async function carried(cancels: GasJob['cancels'] = null): Promise<GasWorld> {
  const world: GasWorld = new World({
    load: (reader) => loadGasWallet(reader, ID, 0),
    decide,
    record: recordGasWallet,
  })
  const wallet = { walletId: gasWalletKey(ID, 0), address: ADDRESS, epoch: 1 }
  await world.handle({ type: 'key-made', wallet })
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  await world.handle({
    type: 'prepared-sponsor',
    job: {
      ...{ txId, subWalletId: WALLET_ID, chainId: CHAIN_ID, account: ADDRESS, router: ROUTER },
      ...{ lineageId: LINEAGE_ID, calldata: '0x', authorization: null, cancels },
    },
    ...{ others: 0, chainNonce: 0, past: null, nowMs },
    quote: { ok: true, gasLimit: 1n, fees, l1FeeWei: 0n, balanceWei: 10n ** 18n },
  })
  const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
  const signed = { txHash: TX_HASH, ...bytes } as const
  await world.handle({ type: 'signed', txId, nonce: 0, signed, nowMs })
  await world.handle({ type: 'confirmed', txId, mined: MINED, nowMs })
  return world
}

/** What the sub-wallet had stored before the crash. */
async function heard(world: GasWorld, said: Partial<Transaction>): Promise<void> {
  const batch = new WriteBatch()
  batch.addTransaction(transaction(1, { kind: 'swap', ...said }), null)
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  await localCommits(world.environment, sequence).commit(batch)
}

async function takenBack(world: GasWorld): Promise<void> {
  await world.handle({ type: 'unmined', txId, nowMs })
  const found = world.reader.gas.transaction(txId)
  if (found === undefined) throw new Error('it was stored')
  await world.handle({ type: 'end-read', txId, stored: found.tx, job: found.job, nowMs })
}

/** As a start asks. */
async function toldAtStart(world: GasWorld) {
  world.restart()
  const jobs = unreportedJobs(world.reader, world.state)
  await world.handle({ type: 'open', unreported: { jobs, nowMs } })
  return world.pending.flatMap((effect) => (effect.type === 'tell' ? [effect.update] : []))
}

test('a start tells again that a call was taken back by a reorg, where a kill lost that', async () => {
  const world = await carried()
  await heard(world, { status: 'confirmed', mined: MINED })
  await takenBack(world)
  const [update, ...more] = await toldAtStart(world)
  expect(update).toMatchObject({ txId, gas: { status: 'broadcast', mined: null }, cancels: null })
  expect(more).toEqual([])
})

test('a start tells again how a call ended that had been taken back, where a kill lost that', async () => {
  const world = await carried()
  await heard(world, { status: 'confirmed', mined: MINED })
  await takenBack(world)
  await world.handle({ type: 'confirmed', txId, mined: ELSEWHERE, nowMs })
  const [update, ...more] = await toldAtStart(world)
  expect(update).toMatchObject({
    ...{ txId, flight: 'ended' },
    gas: { status: 'failed', mined: ELSEWHERE },
  })
  expect(more).toEqual([])
})

test('a start tells nothing of what its sub-wallet holds as it is, or asks about itself', async () => {
  const known = await carried()
  await heard(known, { status: 'confirmed', mined: MINED })
  expect(await toldAtStart(known)).toEqual([])
  const asking = await carried()
  await heard(asking, { status: 'broadcast', mined: null })
  expect(await toldAtStart(asking)).toEqual([])
})

test('a start tells again of a cancellation, which may have been taken back', async () => {
  const cancelled = txIdOf(7)
  const world = await carried(cancelled)
  await takenBack(world)
  const [update] = await toldAtStart(world)
  expect(update).toMatchObject({ txId, cancels: cancelled, gas: { mined: null } })
})
