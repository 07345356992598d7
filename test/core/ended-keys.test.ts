import { describe, expect, test } from 'vitest'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import {
  apiKey,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { openWallet, preparedSwap, spentBy, type WalletWorld } from './wallet-world.js'

/** What a key asked for and is not signed yet when the key is ended. */

const nowMs = START_MS
const CHILD = 'key_0000000000000000000000000C'

const revoke = (world: WalletWorld, keyId: KeyId = KEY_ID) =>
  world.handle({ type: 'revoke-key', keyId, nowMs })

async function screened(world: WalletWorld, n: number): Promise<void> {
  const clean = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: txIdOf(n), ...clean, nowMs })
}

async function swapScreened(world: WalletWorld, n: number): Promise<void> {
  const clean = { refusal: null, screenedAgainst: [], nowMs }
  await world.handle({ type: 'sponsored-screened', txId: txIdOf(n), ...clean })
}

async function signed(world: WalletWorld, n: number, nonce: number): Promise<void> {
  const hash = `0x0${n}` as const
  const bytes = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: nowMs }
  await world.handle({ type: 'signed', txId: txIdOf(n), nonce, signed: bytes, nowMs })
}

/** Refused as a call of a key that is no more; nothing is asked of the quorum, nor held. */
function expectRefused(world: WalletWorld, token: number): void {
  const result = world.replies.find((reply) => reply.token === token)?.result
  expect(result).toMatchObject({ ok: false, fault: { code: 'INVALID_KEY' } })
  expect(asked(world)).toEqual([])
  expect(spentBy(world).reservedMicros).toBe(0n)
}

function asked({ pending }: WalletWorld): readonly string[] {
  return pending.flatMap(({ type }) => (type === 'sign' || type === 'sign-intent' ? [type] : []))
}

describe('what a key asked for is not signed once it is revoked', () => {
  test('a send that was being screened', async () => {
    const world = await openWallet(1_000n)
    await world.handle(preparedSend(1, 50n), 1)
    await revoke(world)
    await screened(world, 1)
    expectRefused(world, 1)
  })

  test('a send of a key that it made', async () => {
    const world = await openWallet(1_000n)
    const said = { dailyLimitMicros: 1_000n, monthlyLimitMicros: 3_000n }
    await world.handle({ type: 'register-key', key: apiKey({ ...said, mayDelegate: true }) })
    const child = apiKey({
      ...{ ...said, secretHash: 'c'.repeat(64), parentLineageId: LINEAGE_ID },
      ...{ keyId: CHILD as KeyId, lineageId: CHILD as LineageId },
    })
    await world.handle({ type: 'register-key', key: child })
    await world.handle({ ...preparedSend(1, 50n), keyId: child.keyId }, 1)
    await revoke(world)
    await screened(world, 1)
    expectRefused(world, 1)
  })

  test('a swap that waits for the lane, so that its account may delegate', async () => {
    const world = await openWallet(1_000n)
    await world.handle(preparedSend(1, 50n), 1)
    await screened(world, 1)
    await signed(world, 1, 0)
    world.pending = []
    await world.handle({ ...preparedSwap(2, 400n), delegated: false, chainNonce: 0 }, 2)
    await swapScreened(world, 2)
    expect(asked(world)).toEqual([])
    await revoke(world)
    const mined: MinedIn = {
      ...{ txHash: '0x01', blockNumber: 1, blockHash: '0x0b' },
      ...{ outcome: 'success', feeWei: 1n },
    }
    await world.handle({ type: 'mined', txId: txIdOf(1), mined, nowMs })
    await world.handle({ type: 'confirmed', txId: txIdOf(1), mined, nowMs })
    expectRefused(world, 2)
    expect(world.state.delegations.size).toBe(0)
  })

  test('an intent that the quorum signed meanwhile is forgotten', async () => {
    const world = await openWallet(1_000n)
    await world.handle(preparedSwap(1, 400n), 1)
    await swapScreened(world, 1)
    world.pending = []
    await revoke(world)
    const intent = { calldata: '0x', authorization: null } as const
    const deadlineSeconds = nowMs / 1_000 + 180
    await world.handle({
      ...{ type: 'intent-signed', txId: txIdOf(1), nowMs },
      signed: { ...intent, deadlineSeconds },
    })
    expectRefused(world, 1)
    expect(world.pending.map(({ type }) => type)).not.toContain('submit-job')
  })
})
