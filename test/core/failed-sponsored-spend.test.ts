import { describe, expect, test } from 'vitest'
import type { SponsorUpdate } from '../../actors/sub-wallet/core/sponsored-messages.js'
import { gasWalletsFor } from '../../src/domain/gas-wallets.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import {
  ATTEMPT,
  CHAIN_ID,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  spentBy,
  submitJob,
  type WalletWorld,
} from './wallet-world.js'

const nowMs = START_MS
const VALUE = 400n
const txId = txIdOf(1)
const CANCELLATION = 900
const [, SECOND_GAS_WALLET = FIRST_GAS_WALLET] = gasWalletsFor(CHAIN_ID, WALLET_ID)
const BLOCK: MinedIn = {
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'reverted', feeWei: 1n },
}
const ELSEWHERE: MinedIn = { ...BLOCK, txHash: '0x0c', outcome: 'success' }
const HELD = { dayMicros: VALUE, reservedMicros: VALUE }
const FREE = { dayMicros: 0n, reservedMicros: 0n }

function tell(world: WalletWorld, told: Partial<SponsorUpdate>) {
  return world.handle({
    ...{ type: 'sponsor-update', txId, gas: null, flight: 'sent', refusal: null },
    ...{ gasWalletId: FIRST_GAS_WALLET, cancels: null, nowMs, ...told },
  })
}

const carriedBy = (said: Partial<Transaction>) => transaction(1, { attempts: [ATTEMPT], ...said })

/** A swap whose execution was mined and reverted: its intent is good until its deadline. */
async function failed(): Promise<WalletWorld> {
  const world = await openWallet(1_000n)
  await submitJob(world, 1, VALUE)
  await tell(world, { gas: carriedBy({ status: 'failed', mined: BLOCK }), flight: 'ended' })
  return world
}

/** What the gas wallet says of the cancellation of its intent. */
function cancellation(said: Partial<Transaction>): Partial<SponsorUpdate> {
  const attempts = [{ ...ATTEMPT, txHash: ELSEWHERE.txHash }]
  return {
    ...{ txId: txIdOf(CANCELLATION), cancels: txId },
    gas: transaction(CANCELLATION, { attempts, ...said }),
  }
}

const NOT_FINAL: Readonly<Record<string, Partial<Transaction>>> = {
  'is signed': { status: 'signed' },
  'is out': { status: 'broadcast' },
  'is in a block that is not final': { status: 'broadcast', mined: ELSEWHERE },
  'reverted, and that is final': { status: 'failed', mined: { ...ELSEWHERE, outcome: 'reverted' } },
  'was dropped': { status: 'dropped', error: { code: 'CHAIN_REJECTED', message: 'no' } },
}

describe('the spend of a sponsored call that failed', () => {
  test.each(Object.entries(NOT_FINAL))(
    'stays counted while its cancellation %s',
    async (_, said) => {
      const world = await failed()
      expect(spentBy(world)).toMatchObject(HELD)
      await tell(world, cancellation(said))
      expect(spentBy(world)).toMatchObject(HELD)
      expect(world.state.sponsored.get(txId)?.phase).toBe('held')
      world.restart()
      expect(spentBy(world)).toMatchObject(HELD)
      await tell(world, cancellation(said))
      expect(spentBy(world)).toMatchObject(HELD)
    },
  )

  test('stays counted where no gas wallet could cancel it', async () => {
    const world = await failed()
    const refusal = { of: 'gas-wallet', fault: fault('CHAIN_UNAVAILABLE') } as const
    await tell(world, { txId: txIdOf(CANCELLATION), cancels: txId, refusal, flight: 'ended' })
    expect(spentBy(world)).toMatchObject(HELD)
  })

  test('is free once its cancellation is final', async () => {
    const world = await failed()
    await tell(world, cancellation({ status: 'confirmed', mined: ELSEWHERE }))
    expect(spentBy(world)).toMatchObject(FREE)
    expect(world.reader.transactions.byId(txId)).toMatchObject({
      status: 'failed',
      spentMicros: 0n,
    })
  })

  test('is free once no block may execute it any longer', async () => {
    const world = await failed()
    await world.handle({
      ...{ type: 'deadline-passed', txId, isCarried: true },
      nowMs: nowMs + (INTENT_SECONDS + 1) * 1_000,
    })
    expect(spentBy(world)).toMatchObject(FREE)
  })
})

/** The first gas wallet refused the job, and the second one was asked. */
async function passedOver(): Promise<WalletWorld> {
  const world = await openWallet(1_000n)
  await submitJob(world, 1, VALUE)
  const refusal = { of: 'gas-wallet', fault: fault('CHAIN_UNAVAILABLE') } as const
  await tell(world, { refusal, flight: 'ended' })
  expect(world.state.sponsored.get(txId)?.sponsorship?.gasWalletId).toBe(SECOND_GAS_WALLET)
  world.pending = []
  return world
}

const LATE: Readonly<Record<string, Partial<SponsorUpdate>>> = {
  'could not carry it': {
    ...{ refusal: { of: 'gas-wallet', fault: fault('CHAIN_UNAVAILABLE') }, flight: 'ended' },
  },
  'refused the call': {
    ...{ refusal: { of: 'call', fault: fault('CHAIN_UNAVAILABLE') }, flight: 'ended' },
  },
  'dropped it': {
    ...{ gas: carriedBy({ status: 'dropped' }), flight: 'ended' },
  },
  'sent it': { gas: carriedBy({ status: 'broadcast' }) },
  'saw it revert': {
    ...{ gas: carriedBy({ status: 'failed', mined: BLOCK }), flight: 'ended' },
  },
  'saw it confirmed': {
    ...{ gas: carriedBy({ status: 'confirmed', mined: ELSEWHERE }), flight: 'ended' },
  },
}

describe('of a gas wallet that was passed over', () => {
  test.each(Object.entries(LATE))(
    'nothing follows from the late word that it %s',
    async (_, told) => {
      const world = await passedOver()
      const before = world.state.sponsored.get(txId)
      await tell(world, told)
      expect(world.pending).toEqual([])
      expect(world.replies).toEqual([])
      expect(world.state.sponsored.get(txId)).toEqual(before)
      expect(world.reader.transactions.byId(txId)).toBeUndefined()
      expect(spentBy(world)).toMatchObject(HELD)
    },
  )

  test('the next one carries the job on', async () => {
    const world = await passedOver()
    await tell(world, { ...LATE['dropped it'] })
    const gas = carriedBy({ status: 'confirmed', mined: ELSEWHERE })
    await tell(world, { gas, flight: 'ended', gasWalletId: SECOND_GAS_WALLET })
    expect(world.reader.transactions.byId(txId)).toMatchObject({ status: 'confirmed' })
    expect(spentBy(world)).toMatchObject({ dayMicros: VALUE, reservedMicros: 0n })
  })
})
