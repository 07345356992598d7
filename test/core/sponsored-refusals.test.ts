import { describe, expect, test } from 'vitest'
import type { Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { ATTEMPT, preparedSend, START_MS, transaction, txIdOf } from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  openWallet,
  spentBy,
  submitJob,
  type WalletWorld,
} from './wallet-world.js'

const CAP_MICROS = 1_000n

/** No gas wallet could carry it: its caller is told that nothing was done. */
async function refuse(world: WalletWorld, n: number): Promise<void> {
  await world.handle({
    type: 'sponsor-update',
    txId: txIdOf(n),
    gas: null,
    flight: 'ended',
    refusal: { of: 'call', fault: fault('CHAIN_UNAVAILABLE') },
    gasWalletId: FIRST_GAS_WALLET,
    cancels: null,
    nowMs: START_MS,
  })
}

/** A send of the wallet's own, up to its stored bytes. */
async function send(world: WalletWorld, n: number, micros: bigint, nonce: number): Promise<void> {
  const txId = txIdOf(n)
  const nowMs = START_MS
  await world.handle(preparedSend(n, micros, { nowMs }), n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...screened, nowMs })
  const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
  await world.handle({ type: 'signed', txId, nonce, signed: { txHash: `0x${n}`, ...bytes }, nowMs })
}

async function restart(world: WalletWorld): Promise<void> {
  world.restart()
  await world.handle({ type: 'resume-sponsored' })
}

const handedOver = (world: WalletWorld) =>
  world.pending.map(({ type }) => type).includes('submit-job')

describe('a sponsored call that was handed over and then refused', () => {
  test('is not handed over again by the next start', async () => {
    const world = await openWallet(CAP_MICROS)
    await submitJob(world, 1, 400n)
    expect(handedOver(world)).toBe(true)
    await refuse(world, 1)
    expect(world.replies.at(-1)).toMatchObject({ token: 1, result: { ok: false } })
    await restart(world)
    expect(handedOver(world)).toBe(false)
    expect(world.state.sponsored.size).toBe(0)
  })

  test('gives its reservation back once, however often the service starts', async () => {
    const world = await openWallet(CAP_MICROS)
    await submitJob(world, 1, 400n)
    await refuse(world, 1)
    await send(world, 2, 890n, 0)
    for (let nonce = 1; nonce <= 3; nonce++) {
      await restart(world)
      await refuse(world, 1)
      await send(world, 2 + nonce, 1n, nonce)
      const { dayMicros, reservedMicros } = spentBy(world)
      expect(dayMicros).toBeGreaterThanOrEqual(900n)
      expect(reservedMicros).toBe(dayMicros)
    }
  })
})

/** A gas wallet signed it, and then no node took it. */
async function drop(world: WalletWorld, n: number, error: Transaction['error']): Promise<void> {
  await world.handle({
    type: 'sponsor-update',
    txId: txIdOf(n),
    gas: transaction(n, { status: 'dropped', attempts: [ATTEMPT], error }),
    flight: 'ended',
    refusal: null,
    gasWalletId: FIRST_GAS_WALLET,
    cancels: null,
    nowMs: START_MS,
  })
}

describe('a refusal after the signature', () => {
  test.each([
    ['CHAIN_UNAVAILABLE', 'a gas wallet that ran dry', null],
    ['CHAIN_REJECTED', 'a refusal by the nodes', { code: 'CHAIN_REJECTED', message: 'no' }],
  ])(
    'names the sponsored call that stays listed as dropped: %s, for %s',
    async (code, _, error) => {
      const world = await openWallet(CAP_MICROS)
      await submitJob(world, 1, 400n)
      await drop(world, 1, error)
      const refusal = { code, details: { tx_id: txIdOf(1) } }
      expect(world.replies.at(-1)).toMatchObject({
        token: 1,
        result: { ok: false, fault: refusal },
      })
      expect(world.reader.transactions.byId(txIdOf(1))).toMatchObject({ status: 'dropped' })
    },
  )

  test('names the send that stays listed as dropped', async () => {
    const world = await openWallet(CAP_MICROS)
    await send(world, 2, 10n, 0)
    await world.handle({
      ...{ type: 'broadcast-outcome', txId: txIdOf(2), txHash: '0x2', blockNumber: 1 },
      outcome: { kind: 'rejected', fault: fault('CHAIN_REJECTED', { reason: 'invalid' }) },
      nowMs: START_MS,
    })
    const details = { reason: 'invalid', tx_id: txIdOf(2) }
    const refusal = { code: 'CHAIN_REJECTED', details }
    expect(world.replies.at(-1)).toMatchObject({ token: 2, result: { ok: false, fault: refusal } })
    expect(world.reader.transactions.byId(txIdOf(2))).toMatchObject({ status: 'dropped' })
  })
})
