import { describe, expect, test } from 'vitest'
import type { MinedIn } from '../../src/domain/transaction.js'
import { preparedSend, START_MS, transaction, txIdOf } from '../actors/wallet-fixtures.js'
import { FIRST_GAS_WALLET, openWallet, submitJob, type WalletWorld } from './wallet-world.js'

const nowMs = START_MS
const txId = txIdOf(1)
const MINED: MinedIn = {
  ...{ txHash: '0x01', blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'success', feeWei: 1n },
}

/** A wallet whose first send is signed, stored and with a node that has not answered yet. */
async function sending(): Promise<WalletWorld> {
  const world = await openWallet(1_000n)
  await world.handle(preparedSend(1, 50n, { nowMs }), 1)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...screened, nowMs })
  const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
  await world.handle({
    ...{ type: 'signed', txId, nonce: 0, nowMs },
    signed: { txHash: MINED.txHash, ...bytes },
  })
  return world
}

const typesOf = ({ logged }: WalletWorld) => logged.map(({ type }) => type)

describe('an update that overtakes what it follows', () => {
  test('a reorg is not missed that comes while the confirmation is being stored', async () => {
    const world = await sending()
    await world.handle({ type: 'mined', txId, mined: MINED, nowMs })
    await world.handle({ type: 'confirmed', txId, mined: MINED, nowMs })
    world.pending = []
    const reorg = { type: 'unmined', txId, nowMs } as const
    await world.together([reorg, reorg])
    // An effect waits for the commits of what was decided before it.
    expect(world.pending).toEqual([{ type: 'read-end', txId }])
    const stored = world.reader.transactions.byId(txId) ?? null
    await world.handle({ type: 'end-read', txId, stored, nowMs })
    expect(world.reader.transactions.byId(txId)).toMatchObject({ status: 'broadcast', mined: null })
    expect(world.loaded().open.has(txId)).toBe(true)
  })

  test('a block that comes before the answer of a node is recorded after the broadcast', async () => {
    const world = await sending()
    await world.handle({ type: 'confirmed', txId, mined: MINED, nowMs })
    const outcome = { kind: 'accepted' } as const
    const { txHash } = MINED
    await world.handle({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber: 1, nowMs })
    expect(typesOf(world)).toEqual(['transaction.broadcast', 'transaction.confirmed'])
  })

  test('the same of the block that a gas wallet tells of first', async () => {
    const world = await openWallet(1_000n)
    await submitJob(world, 1, 50n)
    const gas = transaction(1, { status: 'confirmed', mined: MINED })
    await world.handle({
      ...{ type: 'sponsor-update', txId, gas, flight: 'ended', refusal: null, cancels: null },
      ...{ gasWalletId: FIRST_GAS_WALLET, nowMs },
    })
    expect(typesOf(world)).toEqual(['transaction.broadcast', 'transaction.confirmed'])
  })
})
