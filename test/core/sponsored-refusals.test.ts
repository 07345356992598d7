import { describe, expect, test } from 'vitest'
import { fault } from '../../src/errors/fault.js'
import { preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
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
