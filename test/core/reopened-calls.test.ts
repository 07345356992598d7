import { describe, expect, test } from 'vitest'
import { endedCall } from '../../actors/sub-wallet/ended-call.js'
import { encodeExecute } from '../../src/contracts/router-intent.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { WaitingWallet } from '../actors/waiting-wallet.js'
import {
  ADDRESS,
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
  wallet,
} from '../actors/wallet-fixtures.js'
import { policyOf, transferData } from '../policy/random-policies.js'
import { checkWallet } from './wallet-mirror.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  ROUTER,
  spentBy,
  submitJob,
  unmined,
  type WalletWorld,
} from './wallet-world.js'

const nowMs = START_MS
const txId = txIdOf(1)
const CAP = 1_000n
const VALUE = 400n
const DEADLINE_SECONDS = START_MS / 1_000 + INTENT_SECONDS
const CALLDATA = encodeExecute(
  {
    ...{ account: ADDRESS, tokenIn: ADDRESS, amountIn: VALUE, feeBps: 0, tokenOut: ROUTER },
    ...{ minOut: 1n, target: ROUTER, data: '0x', nonce: 0n, deadline: DEADLINE_SECONDS },
  },
  new Uint8Array(65).fill(1, 0, 64),
  { publicKey: new Uint8Array(65).fill(4), signature: new Uint8Array(64).fill(1) },
)
const MINED: MinedIn = {
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'success', feeWei: 0n },
}
const ELSEWHERE: MinedIn = { ...MINED, blockNumber: 2, blockHash: '0x0c' }
const REVERTED: MinedIn = { ...ELSEWHERE, outcome: 'reverted' }

/** A wallet whose key may move so many units of what the calls move in a day. */
async function opened(): Promise<WalletWorld> {
  const world = await openWallet(CAP)
  const ceilings = [{ chain_id: CHAIN_ID, token: ADDRESS, per: 'day', amount: '1000' }]
  const policy = policyOf({ default: 'allow', ceilings })
  const caps = { dailyLimitMicros: CAP, monthlyLimitMicros: 3n * CAP }
  await world.handle({ type: 'register-key', key: apiKey({ ...caps, policy }) })
  return world
}

const record = ({ reader }: WalletWorld) => reader.transactions.byId(txId)
const units = ({ state }: WalletWorld) =>
  state.policyLedgers.get(LINEAGE_ID)?.units.map(({ dayUnits }) => dayUnits)

/** In memory and after a restart alike. */
function counts(world: WalletWorld, dayMicros: bigint, reservedMicros: bigint, moved: bigint) {
  checkWallet(world, CAP, nowMs)
  expect(spentBy(world)).toMatchObject({ dayMicros, reservedMicros })
  expect(units(world)).toEqual([moved])
  expect(world.loaded().policyLedgers).toEqual(world.state.policyLedgers)
}

const RUNS = [
  ['', () => undefined],
  [', over restarts', (world: WalletWorld) => world.restart()],
] as const

describe.each(RUNS)('a sponsored call that was confirmed and is reopened%s', (_, between) => {
  async function told(...update: Parameters<typeof toldAtOnce>): Promise<void> {
    await toldAtOnce(...update)
    between(update[0])
  }

  async function toldAtOnce(
    world: WalletWorld,
    status: 'broadcast' | 'confirmed' | 'failed' | 'dropped',
    mined: MinedIn | null,
    stored = endedCall(world.reader, txId),
  ): Promise<void> {
    const gas = transaction(1, { status, mined, attempts: [ATTEMPT] })
    const known = world.state.sponsored.has(txId) ? {} : { stored }
    await world.handle({
      ...{ type: 'sponsor-update', txId, gas, refusal: null, cancels: null, ...known },
      ...{ flight: status === 'broadcast' ? 'sent' : 'ended', nowMs },
      gasWalletId: FIRST_GAS_WALLET,
    })
  }

  async function reopened(): Promise<WalletWorld> {
    const world = await opened()
    await submitJob(world, 1, VALUE, CALLDATA)
    await told(world, 'broadcast', MINED)
    await told(world, 'confirmed', MINED)
    counts(world, VALUE, 0n, VALUE)
    await told(world, 'broadcast', null)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: null, spentMicros: VALUE })
    counts(world, VALUE, VALUE, VALUE)
    return world
  }

  /** The spend of one that failed, and is reserved until the deadline of its intent. */
  async function failed(world: WalletWorld): Promise<void> {
    world.pending = []
    await told(world, 'failed', REVERTED)
    if (world.pending.length === 0) await world.handle({ type: 'resume-sponsored' })
    expect(record(world)).toMatchObject({ status: 'failed', spentMicros: VALUE })
    counts(world, VALUE, VALUE, VALUE)
    expect(world.pending).toContainEqual({
      ...{ type: 'await-deadline', stage: 'held', txId, chainId: CHAIN_ID },
      deadlineSeconds: DEADLINE_SECONDS,
    })
  }

  async function expired(world: WalletWorld): Promise<void> {
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs })
    between(world)
    expect(record(world)).toMatchObject({ status: 'failed', spentMicros: 0n })
    counts(world, 0n, 0n, 0n)
    expect(world.state.sponsored.size).toBe(0)
  }

  test('and fails is held to the deadline of its intent, and counts nothing after', async () => {
    const world = await reopened()
    await failed(world)
    await expired(world)
  })

  test('and is confirmed by another block counts once', async () => {
    const world = await reopened()
    await told(world, 'confirmed', ELSEWHERE)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE })
    expect(record(world)?.mined).toEqual(ELSEWHERE)
    counts(world, VALUE, 0n, VALUE)
  })

  test('and fails, and is reopened once more, counts again until it ends', async () => {
    const world = await reopened()
    await failed(world)
    await expired(world)
    await told(world, 'broadcast', null)
    counts(world, VALUE, VALUE, VALUE)
    await told(world, 'confirmed', ELSEWHERE)
    counts(world, VALUE, 0n, VALUE)
  })

  async function ended(status: 'confirmed' | 'failed', mined: MinedIn): Promise<WalletWorld> {
    const world = await opened()
    await submitJob(world, 1, VALUE, CALLDATA)
    await told(world, 'broadcast', mined)
    await told(world, status, mined)
    return world
  }

  test('and has failed by the next that is heard of it counts as one that failed', async () => {
    const world = await ended('confirmed', MINED)
    await failed(world)
    await expired(world)
  })

  test('and had failed counts again where the next that is heard is its confirmation', async () => {
    const world = await ended('failed', REVERTED)
    await expired(world)
    await told(world, 'confirmed', MINED)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE, mined: MINED })
    counts(world, VALUE, 0n, VALUE)
    expect(world.state.sponsored.size).toBe(0)
  })

  /** Its gas wallet sent nothing at its nonce instead, which no node would take the call at. */
  async function outbid(): Promise<WalletWorld> {
    const world = await opened()
    await submitJob(world, 1, VALUE, CALLDATA)
    await told(world, 'broadcast', null)
    await told(world, 'dropped', ELSEWHERE)
    expect(record(world)).toMatchObject({ status: 'dropped', spentMicros: VALUE })
    counts(world, VALUE, VALUE, VALUE)
    return world
  }

  test('and had been dropped counts where it lands instead of what outbid it', async () => {
    const world = await outbid()
    await told(world, 'broadcast', null)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: null })
    counts(world, VALUE, VALUE, VALUE)
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs })
    await told(world, 'confirmed', MINED)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE, mined: MINED })
    counts(world, VALUE, 0n, VALUE)
  })

  test('and had been dropped, and its spend free, counts again, and is dropped once more', async () => {
    const world = await outbid()
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs })
    counts(world, 0n, 0n, 0n)
    await told(world, 'dropped', ELSEWHERE)
    counts(world, 0n, 0n, 0n)
    await told(world, 'broadcast', null)
    counts(world, VALUE, VALUE, VALUE)
    await told(world, 'dropped', MINED)
    counts(world, VALUE, VALUE, VALUE)
    await world.handle({ type: 'deadline-passed', txId, isCarried: true, nowMs })
    expect(record(world)).toMatchObject({ status: 'dropped', spentMicros: 0n })
    counts(world, 0n, 0n, 0n)
  })

  test('and is mined elsewhere by the next that is heard says where', async () => {
    const world = await ended('confirmed', MINED)
    await told(world, 'broadcast', ELSEWHERE)
    expect(record(world)).toMatchObject({ status: 'broadcast', mined: ELSEWHERE })
    counts(world, VALUE, VALUE, VALUE)
  })

  test('is not reopened by an update that came before', async () => {
    const world = await ended('confirmed', MINED)
    const before = world.logged.length
    await told(world, 'confirmed', MINED)
    expect(world.logged).toHaveLength(before)
    counts(world, VALUE, 0n, VALUE)
  })

  test('counts the gas that the service paid for it once', async () => {
    const paid = { feeWei: 10n ** 22n }
    const world = await ended('confirmed', { ...MINED, ...paid })
    const { micros } = world.state.sponsoredGas
    expect(micros).toBeGreaterThan(0n)
    await told(world, 'broadcast', null)
    expect(world.state.sponsoredGas.micros).toBe(0n)
    expect(world.state.sponsored.get(txId)?.gasMicros).toBe(micros)
    counts(world, VALUE, VALUE, VALUE)
    await told(world, 'confirmed', { ...ELSEWHERE, ...paid })
    expect(world.state.sponsoredGas.micros).toBe(micros)
    counts(world, VALUE, 0n, VALUE)
  })

  describe('of which the intent was cancelled', () => {
    async function cancelled(
      world: WalletWorld,
      status: 'broadcast' | 'confirmed' | 'failed',
      atMs = nowMs,
      stored = endedCall(world.reader, txId),
    ): Promise<void> {
      const gas = transaction(2, { status, mined: status === 'confirmed' ? MINED : null })
      const known = world.state.sponsored.has(txId) ? {} : { stored }
      await world.handle({
        ...{ type: 'sponsor-update', txId: txIdOf(2), gas, refusal: null, cancels: txId },
        ...{ flight: status === 'broadcast' ? 'sent' : 'ended', nowMs: atMs, ...known },
        gasWalletId: FIRST_GAS_WALLET,
      })
      between(world)
    }

    async function freed(): Promise<WalletWorld> {
      const world = await ended('failed', REVERTED)
      await cancelled(world, 'confirmed')
      counts(world, 0n, 0n, 0n)
      return world
    }

    test('holds its spend again when a reorg takes back the cancellation', async () => {
      const world = await freed()
      world.pending = []
      await cancelled(world, 'broadcast')
      expect(record(world)).toMatchObject({ status: 'failed', spentMicros: VALUE })
      counts(world, VALUE, VALUE, VALUE)
      if (world.pending.length === 0) await world.handle({ type: 'resume-sponsored' })
      expect(world.pending).toContainEqual({
        ...{ type: 'await-deadline', stage: 'held', txId, chainId: CHAIN_ID },
        deadlineSeconds: DEADLINE_SECONDS,
      })
      await cancelled(world, 'confirmed')
      counts(world, 0n, 0n, 0n)
      await cancelled(world, 'broadcast')
      await expired(world)
    })

    test('holds it again when the cancellation is heard to have failed', async () => {
      const world = await freed()
      await cancelled(world, 'failed')
      counts(world, VALUE, VALUE, VALUE)
    })

    test('counts its spend once where its record was read before its end was on disk', async () => {
      const world = await ended('failed', REVERTED)
      const older = endedCall(world.reader, txId)
      expect(older?.tx).toMatchObject({ status: 'failed', spentMicros: VALUE })
      await cancelled(world, 'confirmed')
      await cancelled(world, 'broadcast', nowMs, older)
      counts(world, VALUE, VALUE, VALUE)
      await cancelled(world, 'confirmed')
      counts(world, 0n, 0n, 0n)
      await told(world, 'broadcast', null, older)
      counts(world, VALUE, VALUE, VALUE)
    })

    test('counts once where it was confirmed after its record was read', async () => {
      const world = await ended('failed', REVERTED)
      const older = endedCall(world.reader, txId)
      await toldAtOnce(world, 'broadcast', null)
      await toldAtOnce(world, 'confirmed', MINED)
      await cancelled(world, 'broadcast', nowMs, older)
      expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE, mined: MINED })
      counts(world, VALUE, 0n, VALUE)
    })

    test('holds nothing again after the deadline of its intent', async () => {
      const world = await freed()
      await cancelled(world, 'broadcast', DEADLINE_SECONDS * 1_000)
      counts(world, 0n, 0n, 0n)
      expect(world.state.sponsored.size).toBe(0)
    })
  })
})

describe.each(RUNS)('a send that was confirmed and is reopened%s', (_, between) => {
  const GAS = 10n

  async function mined(world: WalletWorld, where: MinedIn): Promise<void> {
    await world.handle({ type: 'confirmed', txId, mined: where, nowMs })
    between(world)
    if (record(world)?.status !== 'broadcast') return
    const { blockHash } = where
    const valued = { shownMicros: 0n, unvalued: null, nowMs }
    await world.handle({ type: 'confirmed', txId, mined: where, nowMs })
    await world.handle({ type: 'receipt-valued', txId, blockHash, ...valued })
    between(world)
  }

  async function reopened(
    meanwhile: (world: WalletWorld) => Promise<void> = async () => undefined,
  ): Promise<WalletWorld> {
    const world = await opened()
    const data = transferData(ROUTER, VALUE)
    await world.handle(preparedSend(1, VALUE, { nowMs, to: ADDRESS, value: 0n, data }), 1)
    const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
    await world.handle({ type: 'screened', txId, ...screened, nowMs })
    const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
    const signed = { txHash: ATTEMPT.txHash, ...bytes }
    await world.handle({ type: 'signed', txId, nonce: 0, nowMs, signed })
    between(world)
    await mined(world, MINED)
    counts(world, VALUE, 0n, VALUE)
    await unmined(world, txId, nowMs, () => meanwhile(world))
    between(world)
    counts(world, VALUE + GAS, VALUE + GAS, VALUE)
    return world
  }

  test('has its nonce, which a node called free while its record was read', async () => {
    const world = await reopened(async (ended) => {
      const head = { type: 'head', chainId: CHAIN_ID, blockNumber: 9, fees: null } as const
      await ended.handle({ ...head, gasPriceWei: null, chainNonce: 0, finalBlock: null, nowMs })
    })
    const lane = world.state.lanes.get(CHAIN_ID)
    expect(lane).toMatchObject({ nextNonce: 1, gaps: [], flight: [txId] })
  })

  test('and fails counts nothing but its gas', async () => {
    const world = await reopened()
    await mined(world, REVERTED)
    expect(record(world)).toMatchObject({ status: 'failed', spentMicros: 0n })
    counts(world, 0n, 0n, 0n)
    await unmined(world, txId, nowMs)
    counts(world, VALUE + GAS, VALUE + GAS, VALUE)
  })

  test('and is confirmed by another block counts once', async () => {
    const world = await reopened()
    await mined(world, ELSEWHERE)
    expect(record(world)).toMatchObject({ status: 'confirmed', spentMicros: VALUE })
    counts(world, VALUE, 0n, VALUE)
  })
})

test('a send that waited for people gives units back on the day that it was signed in, and takes them there again', async () => {
  const it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const approvals = { needed: 1, expires_seconds: 86_400 }
  const rules = [{ name: 'ask', effect: 'require_approval', when: {}, approvals }]
  const ceilings = [{ chain_id: CHAIN_ID, token: 'native', per: 'day', amount: '1000000000' }]
  const policy = policyOf({ default: 'allow', rules, ceilings })
  await it.run({ type: 'register-key', key: apiKey({ policy }) })
  await it.send(1, 100n)
  it.nowMs += 13 * 3_600_000
  await it.approve(1)
  await it.settle()
  const said = { txId, nowMs: it.nowMs }
  const signed = { ...ATTEMPT, signedAtMs: it.nowMs }
  await it.run({ type: 'signed', ...said, nonce: 0, signed })
  const counted = () => it.state.policyLedgers.get(LINEAGE_ID)?.units
  const taken = it.record(1)?.unitsTaken?.[0]?.amount ?? 0n
  expect(taken).toBeGreaterThan(0n)
  expect(counted()).toMatchObject([{ dayUnits: taken }])
  await it.run({ type: 'confirmed', ...said, mined: REVERTED })
  expect(counted()).toMatchObject([{ dayUnits: 0n, monthUnits: 0n }])
  await it.run({ type: 'unmined', ...said })
  await it.run({ type: 'end-read', ...said, stored: it.record(1) ?? null })
  expect(counted()).toMatchObject([{ dayUnits: taken, monthUnits: taken }])
})
