import { expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { keyStatus } from '../../src/domain/api-key.js'
import type { KeyId } from '../../src/domain/ids.js'
import { apiKey, KEY_ID, START_MS } from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

const nowMs = START_MS
const CAP = 1_000n
const SUCCESSOR = 'key_00000000000000000000000002' as KeyId
const CLAIM = 'claim-1'

const revoke: Command = { type: 'revoke-key', keyId: KEY_ID, nowMs }
const claim: Command = {
  ...{ type: 'claim-grant', claimId: CLAIM, nowMs },
  of: { keyId: SUCCESSOR, rotatedFrom: KEY_ID, patch: null },
}
const rotate: Command = {
  ...{ type: 'rotate-key', keyId: KEY_ID, claimId: CLAIM, nowMs },
  successor: { keyId: SUCCESSOR, secretHash: 'bb'.repeat(32), secretPrefix: 'sk_test_bbbb' },
}

function liveKeys({ state }: WalletWorld): KeyId[] {
  return [...state.keys.values()].flatMap((key) =>
    keyStatus(key, nowMs) === 'revoked' ? [] : [key.keyId],
  )
}

async function expectEnded(world: WalletWorld): Promise<void> {
  expect(liveKeys(world)).toEqual([])
  world.restart()
  expect(liveKeys(world)).toEqual([])
}

/** The identity provider has heard of what there was to hear. */
async function acknowledged(world: WalletWorld): Promise<void> {
  for (const effect of world.pending.splice(0)) {
    if (effect.type !== 'put-grant') continue
    const { keyId, version } = effect.change
    await world.handle({ type: 'grant-answered', keyId, version, taken: true })
  }
}

test('a revoked key is not claimed for a rotation', async () => {
  const world = await openWallet(CAP)
  await world.handle(revoke)
  await acknowledged(world)
  await world.handle(claim, 1)
  expect(world.replies).toMatchObject([{ token: 1, result: { ok: false } }])
  await world.handle(rotate, 2)
  await expectEnded(world)
})

test('a key that is revoked while its successor is confirmed has none', async () => {
  const world = await openWallet(CAP)
  await world.handle(claim, 1)
  expect(world.replies).toMatchObject([{ token: 1, result: { ok: true } }])
  await world.handle(revoke)
  await world.handle(rotate, 2)
  expect(world.replies.at(-1)).toMatchObject({ token: 2, result: { value: { outdated: true } } })
  await expectEnded(world)
})

test('a key that has ended by its time while its successor is confirmed has none', async () => {
  const world = await openWallet(CAP)
  const key = apiKey({ dailyLimitMicros: CAP, monthlyLimitMicros: 3n * CAP, endsAtMs: nowMs + 1 })
  await world.handle({ type: 'register-key', key })
  await world.handle(claim, 1)
  await world.handle({ ...rotate, nowMs: nowMs + 2 }, 2)
  expect(world.replies.at(-1)).toMatchObject({ token: 2, result: { ok: false } })
  expect(world.state.keys.has(SUCCESSOR)).toBe(false)
})

test('a revoked key stays revoked where it is made once more, or changed', async () => {
  const world = await openWallet(CAP)
  const made = world.state.keys.get(KEY_ID)
  if (made === undefined) throw new Error('the wallet has no key')
  await world.handle(revoke)
  await world.handle({ type: 'register-key', key: made }, 1)
  const patch = { dailyLimitMicros: 2n * CAP }
  await world.handle({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs }, 2)
  expect(world.replies.at(-1)).toMatchObject({ token: 2, result: { ok: false } })
  await expectEnded(world)
})

test('revoking a successor ends what it took the place of', async () => {
  const world = await openWallet(CAP)
  await world.handle(claim, 1)
  await world.handle(rotate, 2)
  expect(liveKeys(world)).toEqual([KEY_ID, SUCCESSOR])
  await world.handle({ ...revoke, keyId: SUCCESSOR })
  await expectEnded(world)
})
