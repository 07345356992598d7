import { describe, expect, test } from 'vitest'
import { laneOf, WINDOW_DELEGATED, WINDOW_PLAIN } from '../../actors/account/core/state.js'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type { GasWalletEffect } from '../../actors/gas-wallet/core/messages.js'
import { loadGasWallet } from '../../actors/gas-wallet/record.js'
import { sweepDelegationsOnce } from '../../actors/sub-wallet/sweep-delegations.js'
import { gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasJob } from '../../src/domain/sponsorship.js'
import { fault } from '../../src/errors/fault.js'
import {
  ADDRESS,
  ATTEMPT,
  CHAIN_ID,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  openWallet,
  preparedSwap,
  submitJob,
  type WalletWorld,
} from './wallet-world.js'

const NONCE = 7
const IDLE_MS = 3_600_000
const LATER_MS = START_MS + 2 * IDLE_MS

/** A delegated account whose one swap is confirmed; its own next nonce is `NONCE`. */
async function delegated(): Promise<WalletWorld> {
  const world = await openWallet(1_000_000n)
  await submitJob(world, 1, 400n)
  const mined = { blockNumber: 1, blockHash: '0x0b', feeWei: 1n, status: 'success' } as const
  await world.handle({
    ...{ type: 'sponsor-update', txId: txIdOf(1), flight: 'ended', refusal: null, cancels: null },
    gas: transaction(1, { status: 'confirmed', attempts: [ATTEMPT], mined: { ...mined } as never }),
    ...{ gasWalletId: FIRST_GAS_WALLET, nowMs: START_MS },
  })
  expect(world.state.sponsored.size).toBe(0)
  world.pending = []
  return world
}

async function askToEnd(world: WalletWorld, isDelegated = true, nowMs = LATER_MS): Promise<void> {
  await world.handle({
    ...{ type: 'prepared-undelegate', chainId: CHAIN_ID, idleSinceMs: nowMs - IDLE_MS },
    account: { delegated: isDelegated, chainNonce: NONCE, gasWei: 1n, gasMicros: 1n },
    nowMs,
  })
}

const update = (stage: 'refused' | 'open' | 'over') =>
  ({
    type: 'undelegation-update',
    ...{ txId: txIdOf(9), chainId: CHAIN_ID, stage, minedAt: null },
  }) as const

async function checked(world: WalletWorld, isDelegated: boolean): Promise<void> {
  await world.handle({
    ...{ type: 'delegation-checked', chainId: CHAIN_ID, delegated: isDelegated },
    ...{ chainNonce: isDelegated ? NONCE : NONCE + 1, nowMs: LATER_MS },
  })
}

const pendingTypes = (world: WalletWorld) => world.pending.map(({ type }) => type)

/** Up to its nonce; null: it waits for one. */
async function sendNonce(world: WalletWorld, n: number): Promise<number | null> {
  await world.handle(preparedSend(n, 5n), n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: txIdOf(n), ...screened, nowMs: LATER_MS })
  return nonceOf(world, n)
}

function nonceOf(world: WalletWorld, n: number): number | null {
  const asked = world.pending.find((it) => it.type === 'sign' && it.draft.txId === txIdOf(n))
  return asked?.type === 'sign' ? asked.nonce : null
}

async function screenedSwap(world: WalletWorld, n: number): Promise<void> {
  await world.handle(preparedSwap(n, 5n, { nowMs: LATER_MS }), n)
  const screened = { refusal: null, screenedAgainst: [] } as const
  await world.handle({ type: 'sponsored-screened', txId: txIdOf(n), ...screened, nowMs: LATER_MS })
}

const intentAsked = ({ pending }: WalletWorld, n: number) =>
  pending.find((it) => it.type === 'sign-intent' && it.draft.txId === txIdOf(n))

describe('an account without a sponsored call for long', () => {
  test('ends its delegation at its next nonce, and then sends several at a time', async () => {
    const world = await delegated()
    await askToEnd(world)
    expect(world.pending).toEqual([
      {
        ...{ type: 'end-delegation', chainId: CHAIN_ID, account: ADDRESS, nonce: NONCE },
        gasWei: 1n,
      },
    ])
    await world.handle(update('open'))
    expect(pendingTypes(world)).toEqual(['end-delegation'])
    await world.handle(update('over'))
    expect(pendingTypes(world)).toEqual(['end-delegation', 'check-delegation'])
    await checked(world, false)
    expect(laneOf(world.state, CHAIN_ID)).toMatchObject({
      ...{ nextNonce: NONCE + 1, window: WINDOW_PLAIN, ownFrom: NONCE + 1 },
    })
    expect([await sendNonce(world, 2), await sendNonce(world, 3)]).toEqual([NONCE + 1, NONCE + 2])
  })

  test('gives no send its nonce meanwhile, and the one after it afterwards', async () => {
    const world = await delegated()
    await askToEnd(world)
    expect(await sendNonce(world, 2)).toBeNull()
    await world.handle(update('over'))
    await checked(world, false)
    expect(nonceOf(world, 2)).toBe(NONCE + 1)
  })

  test('delegates again for a sponsored call that came meanwhile, or was read as delegated', async () => {
    const world = await delegated()
    await askToEnd(world)
    await screenedSwap(world, 2)
    expect(intentAsked(world, 2)).toBeUndefined()
    await world.handle(update('over'))
    await checked(world, false)
    expect(intentAsked(world, 2)).toMatchObject({ authorization: { nonce: NONCE + 1 } })

    const other = await delegated()
    await askToEnd(other)
    await other.handle(update('over'))
    await checked(other, false)
    await screenedSwap(other, 2)
    expect(intentAsked(other, 2)).toMatchObject({ authorization: { nonce: NONCE + 1 } })
  })

  test('goes on delegated where nobody signs or carries it, and is asked again after as long', async () => {
    const world = await delegated()
    await askToEnd(world)
    await screenedSwap(world, 2)
    await world.handle(update('refused'))
    expect(intentAsked(world, 2)).toMatchObject({ authorization: null })
    expect(laneOf(world.state, CHAIN_ID)).toMatchObject({
      ...{ nextNonce: NONCE, window: WINDOW_DELEGATED },
    })
    const again = await delegated()
    await askToEnd(again)
    await again.handle(update('refused'))
    again.pending = []
    await askToEnd(again, true, LATER_MS + IDLE_MS - 1)
    expect(again.pending).toEqual([])
    await askToEnd(again, true, LATER_MS + IDLE_MS)
    expect(pendingTypes(again)).toEqual(['end-delegation'])
  })

  test('goes on delegated where the chain says so', async () => {
    const world = await delegated()
    await askToEnd(world)
    await world.handle(update('over'))
    await checked(world, true)
    expect(laneOf(world.state, CHAIN_ID)).toMatchObject({ window: WINDOW_DELEGATED })
    expect(world.state.delegations.size).toBe(0)
  })

  test('whose delegation was ended elsewhere signs nothing, and is not looked at again', async () => {
    const world = await delegated()
    await askToEnd(world, false)
    expect(world.pending).toEqual([])
    expect(world.loaded().lastSponsoredMs.size).toBe(0)
    expect(await sendNonce(world, 2)).toBe(NONCE)
  })
})

describe('a delegation is not ended', () => {
  test('before the account was idle for as long as was said', async () => {
    const world = await delegated()
    await askToEnd(world, true, START_MS + IDLE_MS - 1)
    expect(world.pending).toEqual([])
  })

  test('while a sponsored call or a send is under way', async () => {
    const world = await delegated()
    await submitJob(world, 2, 5n)
    world.pending = []
    await askToEnd(world)
    expect(world.pending).toEqual([])
    const sending = await delegated()
    await sendNonce(sending, 2)
    sending.pending = []
    await askToEnd(sending)
    expect(sending.pending).toEqual([])
  })

  test('of an account that never made a sponsored call', async () => {
    const world = await openWallet(1_000n)
    await askToEnd(world)
    expect(world.pending).toEqual([])
  })
})

test('after a kill the gas wallet tells how it went, and the chain is asked', async () => {
  const world = await delegated()
  await askToEnd(world)
  world.restart()
  await world.handle(update('over'))
  expect(pendingTypes(world)).toEqual(['check-delegation'])
  expect(await sendNonce(world, 2)).toBeNull()
  await checked(world, false)
  const stored = world.loaded()
  expect(stored.lastSponsoredMs.size).toBe(0)
  expect(stored.lanes.get(CHAIN_ID)?.nextNonce).toBe(NONCE + 1)
  // Told once more, as a gas wallet does after each block: nothing is asked.
  const quiet = world.pending.length
  await world.handle(update('over'))
  expect(world.pending.length).toBe(quiet)
})

test('idle accounts are found by what is stored, some at a time, and young ones are not', async () => {
  const world = await delegated()
  world.restart()
  const told: object[] = []
  const look = (nowMs: number | null) =>
    sweepDelegationsOnce(
      {
        reader: world.reader,
        tell: (wallet, command) => told.push({ ...wallet, ...command }),
        verifiedNowMs: () => nowMs,
      },
      IDLE_MS,
      null,
    )
  expect(look(null)).toBeNull()
  look(START_MS + IDLE_MS - 1)
  expect(told).toEqual([])
  look(LATER_MS)
  expect(told).toMatchObject([{ type: 'undelegate', kind: 'sub-wallet', chainId: CHAIN_ID }])
})

test('its gas wallet sends it without a call, also of a frozen user, and says how it went', async () => {
  const signature = { yParity: 0, r: '0x01', s: '0x01' } as const
  const job: GasJob = {
    ...{ txId: txIdOf(9), subWalletId: 'sw_00000000000000000000000001' as GasJob['subWalletId'] },
    ...{ lineageId: null, chainId: CHAIN_ID, account: ADDRESS, router: ADDRESS, calldata: '0x' },
    authorization: { chainId: CHAIN_ID, address: ADDRESS, nonce: NONCE, ...signature },
    cancels: null,
  }
  const FEES = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const afford = { l1FeeWei: 0n, balanceWei: 10n ** 18n } as const
  const quote = { ok: true, gasLimit: 60_000n, fees: FEES, ...afford } as const
  const asked = { type: 'prepared-sponsor', job, others: 1, past: null, chainNonce: 0 } as const
  const gasWallet = async () => {
    const state = loadGasWallet((await openWallet(1n)).reader, FIRST_GAS_WALLET, 0)
    state.account.wallet = {
      walletId: gasWalletKey(FIRST_GAS_WALLET, 0),
      address: ADDRESS,
      epoch: 1,
    }
    state.freezingOf = () => ({ scope: 'user', sinceMs: START_MS, reason: 'lost', by: 'user' })
    return state
  }
  const told = (effects: readonly GasWalletEffect[]) =>
    effects.flatMap((effect) => (effect.type === 'tell' ? [effect.update] : []))
  const { effects } = decide(await gasWallet(), { ...asked, quote, nowMs: START_MS }, null)
  expect(effects).toMatchObject([
    { type: 'sign-job', authorization: job.authorization, draft: { call: { data: '0x' } } },
  ])
  const refused = { of: 'gas-wallet', fault: fault('CHAIN_UNAVAILABLE') } as const
  const poor = decide(
    await gasWallet(),
    { ...asked, quote: { ok: false, refusal: refused }, nowMs: START_MS },
    null,
  )
  expect(told(poor.effects)).toEqual([{ ...update('refused') }])
})
