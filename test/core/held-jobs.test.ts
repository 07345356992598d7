import { describe, expect, test } from 'vitest'
import { laneOf } from '../../actors/account/core/state.js'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type {
  GasWalletCommand,
  GasWalletEffect,
  GasWalletEvent,
  JobQuote,
} from '../../actors/gas-wallet/core/messages.js'
import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { loadGasWallet, recordGasWallet } from '../../actors/gas-wallet/record.js'
import { gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasJob, JobGas } from '../../src/domain/sponsorship.js'
import {
  ADDRESS,
  ATTEMPT,
  CHAIN_ID,
  LINEAGE_ID,
  START_MS,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import { ROUTER } from './wallet-world.js'
import { World } from './world.js'

/** What a gas wallet signs for a job, by what is held for it. */
type GasWorld = World<GasWalletState, GasWalletCommand, GasWalletEvent, GasWalletEffect>

const ID = gasWalletId(CHAIN_ID, 0)
const nowMs = START_MS
const JAMMED_MS = 60_000
const txId = txIdOf(1)
const GAS_LIMIT = 1_000n
const FEE = 8n
const L1_FEE = 500n
/** What the call may cost as it is estimated. */
const NEEDED = GAS_LIMIT * FEE + L1_FEE

async function open(): Promise<GasWorld> {
  const world: GasWorld = new World({
    load: (reader) => loadGasWallet(reader, ID, 0),
    decide,
    record: recordGasWallet,
  })
  const wallet = { walletId: gasWalletKey(ID, 0), address: ADDRESS, epoch: 1 }
  await world.handle({ type: 'key-made', wallet })
  return world
}

function jobOf(gas: Partial<JobGas>): GasJob {
  return {
    ...{ txId, subWalletId: WALLET_ID, chainId: CHAIN_ID, account: ADDRESS, router: ROUTER },
    ...{ lineageId: LINEAGE_ID, calldata: '0x', authorization: null, cancels: null },
    gas: { gasMax: GAS_LIMIT, heldWei: NEEDED, l1FeeWei: 0n, ...gas },
  }
}

function ask(world: GasWorld, gas: Partial<JobGas>, quoted: Partial<JobQuote & { ok: true }> = {}) {
  const fees = { maxFeePerGas: FEE, maxPriorityFeePerGas: 1n }
  return world.handle({
    ...{ type: 'prepared-sponsor', job: jobOf(gas), others: 0, past: null, nowMs },
    chainNonce: laneOf(world.state.account, CHAIN_ID).nextNonce === null ? 0 : null,
    quote: {
      ...{ ok: true, gasLimit: GAS_LIMIT, fees, l1FeeWei: L1_FEE, balanceWei: 10n ** 18n },
      ...quoted,
    },
  })
}

/** The job is signed and out, at the fee that it was estimated by. */
async function sent(gas: Partial<JobGas> = {}): Promise<GasWorld> {
  const world = await open()
  await ask(world, gas)
  const { txHash, rawTransaction, intentId, signedAtMs } = ATTEMPT
  const signed = { txHash, rawTransaction, intentId, signedAtMs }
  await world.handle({ type: 'signed', txId, nonce: 0, signed, nowMs })
  const outcome = { kind: 'accepted' } as const
  await world.handle({
    ...{ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber: 1, nowMs },
  })
  world.pending = []
  return world
}

/** Blocks later at the price that its fee no longer pays. */
function stuck(world: GasWorld, atMs = nowMs) {
  return world.handle({
    ...{ type: 'head', chainId: CHAIN_ID, blockNumber: 9, chainNonce: 0, finalBlock: null },
    ...{ fees: null, gasPriceWei: FEE + 1n, nowMs: atMs },
  })
}

function outbid(world: GasWorld, maxFeePerGas: bigint) {
  const { rawTransaction, intentId, signedAtMs } = ATTEMPT
  const signed = { txHash: '0x0d', rawTransaction, intentId, signedAtMs } as const
  const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n }
  return world.handle({
    ...{ type: 'replacement-signed', txId, nonce: 0, purpose: 'bump', fees, signed, nowMs },
  })
}

const isSigned = ({ pending }: GasWorld) => pending.some(({ type }) => type === 'sign-job')

function told({ pending }: GasWorld) {
  const effect = pending.findLast((it) => it.type === 'tell')
  return effect?.type === 'tell' && effect.update.type === 'sponsor-update' ? effect.update : null
}

const bidAsked = ({ pending }: GasWorld) => pending.findLast((it) => it.type === 'replace-job')

const SIGNED: Readonly<
  Record<string, readonly [Partial<JobGas>, Partial<JobQuote & { ok: true }>]>
> = {
  'exactly what is held, with the fee for L1 data': [{}, {}],
  'what has no price': [{ heldWei: null }, {}],
  'the highest gas limit of its flow': [{ gasMax: GAS_LIMIT }, {}],
}
const REFUSED: typeof SIGNED = {
  'a wei more than is held': [{ heldWei: NEEDED - 1n }, {}],
  'a fee for L1 data that is a wei higher': [{}, { l1FeeWei: L1_FEE + 1n }],
  'more gas than its flow may take': [{ heldWei: null }, { gasLimit: GAS_LIMIT + 1n }],
}

describe('a gas wallet signs for', () => {
  test.each(Object.entries(SIGNED))('%s', async (_, [gas, quoted]) => {
    const world = await open()
    await ask(world, gas, quoted)
    expect(isSigned(world)).toBe(true)
  })

  test.each(Object.entries(REFUSED))('no %s', async (_, [gas, quoted]) => {
    const world = await open()
    await ask(world, gas, quoted)
    expect(isSigned(world)).toBe(false)
    expect(told(world)).toMatchObject({ gas: null, refusal: { of: 'call' } })
  })

  test('no more than is held, and says what it needs, with room for fees that rise', async () => {
    const world = await open()
    await ask(world, { heldWei: NEEDED - 1n })
    expect(told(world)?.refusal?.neededWei).toBe((NEEDED * 9n) / 8n)
    await ask(world, { heldWei: (NEEDED * 9n) / 8n })
    expect(isSigned(world)).toBe(true)
  })
})

describe('a job in flight', () => {
  test('is outbid as far as is held for it, the fee for L1 data taken off', async () => {
    const heldWei = 2n * NEEDED
    const world = await sent({ heldWei })
    await ask(world, { heldWei })
    await stuck(world)
    const feeCapWei = (heldWei - L1_FEE) / GAS_LIMIT
    expect(bidAsked(world)).toMatchObject({ purpose: 'bump', feeCapWei })
    await outbid(world, feeCapWei + 1n)
    expect(world.state.account.open.get(txId)?.tx.attempts).toHaveLength(1)
    await stuck(world)
    await outbid(world, feeCapWei)
    expect(world.state.account.open.get(txId)?.tx.attempts).toHaveLength(2)
  })

  test('holds more once it is asked for with more, also after a restart', async () => {
    const world = await sent()
    await ask(world, { heldWei: 2n * NEEDED })
    expect(told(world)?.heldWei).toBe(2n * NEEDED)
    world.restart()
    expect(world.state.jobs.get(txId)?.gas).toMatchObject({
      ...{ heldWei: 2n * NEEDED, l1FeeWei: L1_FEE },
    })
  })

  test.each([
    ['less', NEEDED - 1n],
    ['a wei more', NEEDED + 1n],
    ['nothing', 0n],
  ])('holds what it held where it is asked for with %s', async (_, heldWei) => {
    const world = await sent()
    await ask(world, { heldWei })
    expect(told(world)?.heldWei).toBe(NEEDED)
    world.restart()
    expect(world.state.jobs.get(txId)?.gas?.heldWei).toBe(NEEDED)
  })

  test('says what its next bid needs, and is cancelled once it holds up others', async () => {
    const world = await sent()
    await stuck(world)
    expect(bidAsked(world)).toMatchObject({ purpose: 'bump', feeCapWei: FEE })
    expect(told(world)?.wantedWei).toBeGreaterThan(NEEDED)
    await world.handle({ type: 'replacement-failed', txId })
    world.pending = []
    await stuck(world, nowMs + JAMMED_MS + 1)
    await world.handle({
      ...{ type: 'broadcast-outcome', txId, txHash: ATTEMPT.txHash, blockNumber: 9 },
      ...{ outcome: { kind: 'accepted' }, nowMs: nowMs + JAMMED_MS + 1 },
    })
    await world.handle({
      ...{ type: 'head', chainId: CHAIN_ID, blockNumber: 30, chainNonce: 0, finalBlock: null },
      ...{ fees: null, gasPriceWei: FEE + 1n, nowMs: nowMs + JAMMED_MS + 2 },
    })
    expect(bidAsked(world)).toMatchObject({ purpose: 'cancel', feeCapWei: null })
  })
})
