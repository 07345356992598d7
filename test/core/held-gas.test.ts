import { describe, expect, test } from 'vitest'
import { gasUseOf } from '../../actors/sub-wallet/core/gas-budget-gate.js'
import type { SponsorUpdate } from '../../actors/sub-wallet/core/sponsored-messages.js'
import { gasMaxOf } from '../../src/domain/sponsored-gas.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { ATTEMPT, CHAIN_ID, START_MS, transaction, txIdOf } from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  preparedSwap,
  spentBy,
  type WalletWorld,
} from './wallet-world.js'

/** What sponsored calls hold of the gas budgets. One wei is one micro-dollar here. */
const PRICE = { nativePrice: 10n ** 20n, nativePriceDecimals: 8 }
const nowMs = START_MS
const VALUE = 400n
const WALLET_BUDGET = 1_000_000n
const USER_BUDGET = 1_500_000n
const FIRST_HELD = 100n
const RAISES_MAX = 4
/** Gas of a cancellation at twice the fee of its call. */
const CANCEL = gasMaxOf(CHAIN_ID, 'cancel') * ATTEMPT.maxFeePerGas * 2n
const txId = txIdOf(1)
const CANCELLATION = txIdOf(900)
const BLOCK: MinedIn = {
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'reverted', feeWei: 50n },
}

function limit(world: WalletWorld, ofOthers = 0n, walletMicros = WALLET_BUDGET): void {
  const limits = { walletMicros, userMicros: USER_BUDGET }
  world.state.gasBudget = { limits, ofOthers: () => ofOthers }
}

async function open(ofOthers = 0n): Promise<WalletWorld> {
  const world = await openWallet(1_000n)
  limit(world, ofOthers)
  return world
}

/** @returns the code that its caller is refused with; null: it goes on */
async function swap(world: WalletWorld, n: number, gasMicros: bigint): Promise<string | null> {
  const asked = preparedSwap(n, VALUE)
  if (!asked.quote.ok) throw new Error('a swap without a quote')
  const valuation = { ...asked.quote.valuation, ...PRICE }
  await world.handle({ ...asked, gasMicros, quote: { ...asked.quote, valuation } }, n)
  const { result } = world.replies.find(({ token }) => token === n) ?? {}
  return result?.ok === false ? result.fault.code : null
}

/** A swap that a gas wallet was asked to carry. */
async function handed(world: WalletWorld): Promise<void> {
  expect(await swap(world, 1, FIRST_HELD)).toBeNull()
  const screened = { refusal: null, screenedAgainst: [] } as const
  await world.handle({ type: 'sponsored-screened', txId, ...screened, nowMs })
  const deadlineSeconds = nowMs / 1_000 + INTENT_SECONDS
  const signed = { calldata: '0x', authorization: null, deadlineSeconds } as const
  await world.handle({ type: 'intent-signed', txId, signed, nowMs })
  world.pending = []
}

function tell(world: WalletWorld, told: Partial<SponsorUpdate>) {
  return world.handle({
    ...{ type: 'sponsor-update', txId, gas: null, flight: 'sent', refusal: null },
    ...{ gasWalletId: FIRST_GAS_WALLET, cancels: null, nowMs, ...told },
  })
}

const carried = (said: Partial<Transaction>) => transaction(1, { attempts: [ATTEMPT], ...said })
const RISING = fault('CHAIN_UNAVAILABLE', {}, 'fees rise')

/** The gas wallet signs nothing for less. */
function need(world: WalletWorld, neededWei: bigint) {
  return tell(world, { refusal: { of: 'call', fault: RISING, neededWei }, flight: 'ended' })
}

const usedBy = ({ state }: WalletWorld) => gasUseOf(state, nowMs).wallet.usedMicros
const heldBy = ({ state }: WalletWorld) => gasUseOf(state, nowMs).heldMicros

/** What the job may cost that was handed over last; null: none was. */
function handedOver(world: WalletWorld): bigint | null {
  const effect = world.pending.findLast((it) => it.type === 'submit-job')
  return effect?.type === 'submit-job' ? effect.sponsorship.gasMicros : null
}

function refusedWith(world: WalletWorld): Fault | null {
  const effect = world.pending.findLast((it) => it.type === 'refused')
  return effect?.type === 'refused' ? effect.fault : null
}

describe('the first hold of a sponsored call', () => {
  test.each([
    ['its wallet', 0n, WALLET_BUDGET],
    ['its user, whose other wallets use most of it', USER_BUDGET - 1_000n, 1_000n],
  ])('takes all that is left of the budget of %s, and nothing beyond', async (_, others, left) => {
    expect(await swap(await open(others), 1, left + 1n)).toBe('RATE_LIMITED')
    const world = await open(others)
    expect(await swap(world, 1, left)).toBeNull()
    expect(heldBy(world)).toBe(left)
    expect(await swap(world, 2, 1n)).toBe('RATE_LIMITED')
  })
})

describe('a gas wallet that needs more than is held', () => {
  test.each([
    ['its wallet', 0n, WALLET_BUDGET],
    ['its user', USER_BUDGET - 1_000n, 1_000n],
  ])('is asked again with all that is left of the budget of %s', async (_, others, left) => {
    const world = await open(others)
    await handed(world)
    await need(world, left)
    expect(handedOver(world)).toBe(left)
    expect(heldBy(world)).toBe(left)
    world.restart()
    expect(heldBy(world)).toBe(left)
  })

  test.each([
    ['its wallet', 0n, WALLET_BUDGET],
    ['its user', USER_BUDGET - 1_000n, 1_000n],
  ])('carries nothing for more than is left of the budget of %s', async (_, others, left) => {
    const world = await open(others)
    await handed(world)
    await need(world, left + 1n)
    expect(handedOver(world)).toBeNull()
    expect(refusedWith(world)).toMatchObject({ code: 'RATE_LIMITED' })
    expect(heldBy(world)).toBe(0n)
    expect(spentBy(world)).toMatchObject({ dayMicros: 0n, reservedMicros: 0n })
    expect(world.loaded().sponsored.size).toBe(0)
  })

  test('is asked so many times, and then the call is given up', async () => {
    const world = await open()
    await handed(world)
    for (let raise = 1n; raise <= RAISES_MAX; raise++) {
      await need(world, FIRST_HELD + raise)
      expect(handedOver(world)).toBe(FIRST_HELD + raise)
    }
    world.pending = []
    await need(world, FIRST_HELD + 100n)
    expect(handedOver(world)).toBeNull()
    expect(refusedWith(world)).toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
    expect(heldBy(world)).toBe(0n)
  })
})

describe('a call in flight whose fee has to rise', () => {
  test('holds what its next bid may cost, within the budget', async () => {
    const world = await open()
    await handed(world)
    await tell(world, { gas: carried({ status: 'broadcast' }), wantedWei: WALLET_BUDGET })
    expect(handedOver(world)).toBe(WALLET_BUDGET)
    expect(heldBy(world)).toBe(WALLET_BUDGET)
  })

  test('goes on at what it holds where the budget has no more', async () => {
    const world = await open()
    await handed(world)
    await tell(world, { gas: carried({ status: 'broadcast' }), wantedWei: WALLET_BUDGET + 1n })
    expect(handedOver(world)).toBeNull()
    expect(heldBy(world)).toBe(FIRST_HELD)
    expect(world.state.sponsored.get(txId)?.phase).toBe('sent')
  })

  test('holds no less where it wants less', async () => {
    const world = await open()
    await handed(world)
    await tell(world, { gas: carried({ status: 'broadcast' }), wantedWei: FIRST_HELD - 1n })
    expect(handedOver(world)).toBeNull()
    expect(heldBy(world)).toBe(FIRST_HELD)
  })
})

/** The call was mined and reverted, with so much of its wallet's budget left for its cancellation. */
async function failed(left: bigint): Promise<WalletWorld> {
  const world = await open()
  await handed(world)
  limit(world, 0n, BLOCK.feeWei + left)
  await tell(world, { gas: carried({ status: 'failed', mined: BLOCK }), flight: 'ended' })
  limit(world)
  return world
}

function cancellation(said: Partial<Transaction>): Partial<SponsorUpdate> {
  const mined: MinedIn = { ...BLOCK, txHash: '0x0c', feeWei: 30n }
  return {
    ...{ txId: CANCELLATION, cancels: txId, flight: 'ended' },
    gas: transaction(900, { attempts: [{ ...ATTEMPT, txHash: '0x0c' }], mined, ...said }),
  }
}

const isCancelled = ({ pending }: WalletWorld) => pending.some((it) => it.type === 'cancel-intent')

describe('the cancellation of a call that failed', () => {
  test('is asked for where the budget has what it may cost, and holds that', async () => {
    const world = await failed(CANCEL)
    expect(isCancelled(world)).toBe(true)
    expect(heldBy(world)).toBe(CANCEL)
    expect(usedBy(world)).toBe(BLOCK.feeWei + CANCEL)
    world.restart()
    expect(usedBy(world)).toBe(BLOCK.feeWei + CANCEL)
  })

  test('is not asked for where the budget has a micro-dollar less', async () => {
    const world = await failed(CANCEL - 1n)
    expect(isCancelled(world)).toBe(false)
    expect(usedBy(world)).toBe(BLOCK.feeWei)
    expect(spentBy(world)).toMatchObject({ reservedMicros: VALUE })
  })

  test.each([
    ['confirmed', { status: 'confirmed' as const }],
    ['reverted', { status: 'failed' as const }],
  ])('counts what it paid once it is %s', async (_, said) => {
    const world = await failed(CANCEL)
    await tell(world, cancellation(said))
    expect(usedBy(world)).toBe(BLOCK.feeWei + 30n)
    expect(heldBy(world)).toBe(0n)
    world.restart()
    expect(usedBy(world)).toBe(BLOCK.feeWei + 30n)
  })

  test('counts all that it held where it is under way at the deadline', async () => {
    const world = await failed(CANCEL)
    const passedMs = nowMs + (INTENT_SECONDS + 1) * 1_000
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs: passedMs })
    expect(heldBy(world)).toBe(0n)
    expect(usedBy(world)).toBe(BLOCK.feeWei + CANCEL)
    expect(spentBy(world)).toMatchObject({ reservedMicros: 0n })
    world.restart()
    expect(usedBy(world)).toBe(BLOCK.feeWei + CANCEL)
  })
})
