import { serializeTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { laneOf } from '../../actors/account/core/state.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { Hex } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { ADDRESS, CHAIN_ID, preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, spentBy, unmined, type WalletWorld } from './wallet-world.js'

const CAP_MICROS = 2_000n
const MICROS = 50n
const MINED: MinedIn = {
  txHash: '0x1',
  blockNumber: 1,
  blockHash: '0xb1',
  outcome: 'success',
  feeWei: 1n,
}
const nowMs = START_MS

function bytes(n: number, nonce = 0) {
  const unsigned = { type: 'eip1559', chainId: CHAIN_ID, nonce, to: ADDRESS, value: BigInt(n) }
  const rawTransaction = serializeTransaction({ ...unsigned, type: 'eip1559' })
  const name: Hex = `0x${n}`
  return { txHash: name, rawTransaction, intentId: name, signedAtMs: nowMs }
}

/** A send that waits for its signature at the lane's next nonce. */
async function ask(world: WalletWorld, n: number): Promise<void> {
  await world.handle(preparedSend(n, MICROS), n)
  const screened = {
    type: 'screened',
    txId: txIdOf(n),
    refusal: null,
    screenedAgainst: [],
  } as const
  await world.handle({ ...screened, requoted: null, nowMs })
}

const signed = (n: number, nonce: number, hash: number): Command => {
  return { type: 'signed', txId: txIdOf(n), nonce, signed: bytes(hash, nonce), nowMs }
}

const answered = (
  n: number,
  txHash: Hex,
  outcome: Extract<Command, { type: 'broadcast-outcome' }>['outcome'],
): Command => ({
  ...{ type: 'broadcast-outcome', txId: txIdOf(n), txHash, outcome, blockNumber: 1, nowMs },
})

const LOST = { kind: 'nonce-lost', chainNonce: 1 } as const

/** Its nonce 0 was proved a stranger's, and it is being signed again at nonce 1. */
async function signingAgain(): Promise<WalletWorld> {
  const world = await openWallet(CAP_MICROS)
  await ask(world, 1)
  await world.handle(signed(1, 0, 1))
  await world.handle(answered(1, '0x1', LOST))
  expect(world.pending.at(-1)).toMatchObject({ type: 'sign', nonce: 1 })
  world.pending = []
  return world
}

const mined: Command = { type: 'mined', txId: txIdOf(1), mined: MINED, nowMs }
const confirmed: Command = { ...mined, type: 'confirmed' }
const NOT_SIGNED: Command = {
  ...{ type: 'sign-failed', txId: txIdOf(1), nonce: 1, nowMs },
  fault: fault('COSIGNER_UNAVAILABLE'),
}

function sentOut({ pending }: WalletWorld): (Hex | undefined)[] {
  return pending.flatMap((it) => (it.type === 'broadcast' ? [it.tx.attempts.at(-1)?.txHash] : []))
}

/** What a wallet can be sure of once the first bytes of its only payment are in a final block. */
async function paidOnce(world: WalletWorld): Promise<void> {
  await world.handle(confirmed)
  const stored = world.reader.transactions.byId(txIdOf(1))
  expect(stored).toMatchObject({ status: 'confirmed', nonce: 0 })
  expect(stored?.attempts.map(({ txHash }) => txHash)).toEqual(['0x1'])
  const { dayMicros, reservedMicros } = spentBy(world)
  expect({ dayMicros, reservedMicros }).toEqual({
    dayMicros: stored?.spentMicros,
    reservedMicros: 0n,
  })
  await ask(world, 2)
  expect(world.pending.at(-1)).toMatchObject({ type: 'sign', nonce: 1 })
}

describe('a payment that lost its nonce, and whose first bytes are mined anyway', () => {
  test('is not sent a second time when its second signature comes', async () => {
    const world = await signingAgain()
    await world.handle(mined)
    await world.handle(signed(1, 1, 2))
    expect(sentOut(world)).toEqual([])
    await paidOnce(world)
  })

  test('is not called dropped when no second signature comes', async () => {
    const world = await signingAgain()
    await world.handle(mined)
    await world.handle(NOT_SIGNED)
    await paidOnce(world)
  })

  test('ends once when it is final before the second signature comes', async () => {
    const world = await signingAgain()
    await world.handle(confirmed)
    await world.handle(signed(1, 1, 2))
    expect(sentOut(world)).toEqual([])
    await paidOnce(world)
  })

  test('is answered once', async () => {
    const world = await signingAgain()
    await world.handle(mined)
    await world.handle(NOT_SIGNED)
    expect(world.replies.filter(({ token }) => token === 1)).toMatchObject([
      { result: { ok: true } },
    ])
  })

  test('leaves its second nonce to the payment behind it', async () => {
    const world = await signingAgain()
    await ask(world, 2)
    await world.handle(signed(2, 2, 3))
    await world.handle(mined)
    await world.handle(signed(1, 1, 2))
    expect(sentOut(world)).toEqual([])
    await world.handle(signed(2, 1, 4))
    expect(sentOut(world)).toEqual(['0x4'])
    expect(world.reader.transactions.byId(txIdOf(2))?.nonce).toBe(1)
  })

  test('gives the nonce back at which it went out a second time', async () => {
    const world = await signingAgain()
    await world.handle(signed(1, 1, 2))
    await ask(world, 2)
    await world.handle(signed(2, 2, 3))
    await world.handle(mined)
    expect(world.reader.transactions.byId(txIdOf(1))).toMatchObject({ nonce: 0, mined: MINED })
    expect(laneOf(world.state, CHAIN_ID).gaps).toEqual([1])
    world.pending = []
    await unmined(world, txIdOf(1), nowMs)
    const head = { type: 'head', chainId: CHAIN_ID, blockNumber: 9, fees: null } as const
    await world.handle({ ...head, gasPriceWei: null, chainNonce: 0, finalBlock: null, nowMs })
    expect(sentOut(world)).toContain('0x1')
    expect(sentOut(world)).not.toContain('0x2')
  })
})

describe('a payment that a block had, and a reorg took back', () => {
  test.each(['mined', 'confirmed'] as const)(
    'is neither dropped nor signed again because a node calls its nonce a stranger’s, after it was %s',
    async (type) => {
      const world = await openWallet(CAP_MICROS)
      await ask(world, 1)
      await world.handle(signed(1, 0, 1))
      await world.handle({ ...mined, type })
      const stored = world.reader.transactions.byId(txIdOf(1)) ?? null
      await unmined(world, txIdOf(1), nowMs)
      world.pending = []
      await world.handle(answered(1, '0x1', LOST))
      expect(world.pending).toEqual([])
      expect(world.reader.transactions.byId(txIdOf(1))?.status).toBe('broadcast')
      expect(spentBy(world).dayMicros).toBe(stored?.reservation.micros)
    },
  )

  test('is given up once nodes keep proving that a stranger has its nonce', async () => {
    const world = await openWallet(CAP_MICROS)
    await ask(world, 1)
    await world.handle(signed(1, 0, 1))
    await world.handle(confirmed)
    await unmined(world, txIdOf(1), nowMs)
    for (let proof = 0; proof < 100; proof++) await world.handle(answered(1, '0x1', LOST))
    expect(world.reader.transactions.byId(txIdOf(1))?.status).toBe('dropped')
    expect(spentBy(world).dayMicros).toBe(0n)
  })
})

test('a nonce that is lost again waits for signatures that are under way', async () => {
  const world = await signingAgain()
  await ask(world, 2)
  await world.handle(mined)
  await unmined(world, txIdOf(1), nowMs)
  for (let proof = 0; proof < 100; proof++) await world.handle(answered(1, '0x1', LOST))
  const { signing, queued } = laneOf(world.state, CHAIN_ID)
  expect([...signing, ...queued].sort()).toEqual([txIdOf(1), txIdOf(2)])
  await world.handle(signed(2, 2, 3))
  await world.handle(answered(1, '0x1', LOST))
  await world.handle(signed(2, 1, 4))
  await world.handle(signed(1, 2, 5))
  expect(world.reader.transactions.byId(txIdOf(2))).toMatchObject({ nonce: 1 })
  expect(world.reader.transactions.byId(txIdOf(1))).toMatchObject({ nonce: 2 })
})

test('what may be out is not dropped because old nodes do not know its type', async () => {
  const world = await openWallet(CAP_MICROS)
  await ask(world, 1)
  await world.handle(signed(1, 0, 1))
  await world.handle(answered(1, '0x1', { kind: 'indeterminate', maybeBroadcast: true }))
  const refused = fault('CHAIN_REJECTED', { reason: 'unsupported' })
  await world.handle(answered(1, '0x1', { kind: 'rejected', fault: refused }))
  expect(world.reader.transactions.byId(txIdOf(1))?.status).toBe('signed')
})
