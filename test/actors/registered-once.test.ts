import { describe, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { emptyState } from '../../actors/sub-wallet/core/state.js'
import { creationKey } from '../../src/console/parts/creation-key.js'
import type { UserId } from '../../src/domain/ids.js'
import { createdOnce } from '../../src/operations/console/created-once.js'
import { apiKey, KEY_ID, START_MS, USER_ID, WALLET_ID, wallet } from './wallet-fixtures.js'

const TOKEN = 1 as never
const STRANGER = 'user_00000000000000000000000009' as UserId
const ANOTHER_SECRET = 'bb'.repeat(32)

function opened() {
  const state = emptyState(WALLET_ID)
  const run = (command: Command) => decide(state, command, TOKEN)
  run({ type: 'create-wallet', wallet })
  run({ type: 'register-key', key: apiKey() })
  return { state, run }
}

describe('a key that is registered once more, with another secret', () => {
  test('stays as it is, and who asks is told whose secret counts', () => {
    const { state, run } = opened()
    const { events, replies } = run({
      type: 'register-key',
      key: apiKey({ secretHash: ANOTHER_SECRET }),
    })
    expect(replies[0]?.result).toEqual({ ok: true, value: apiKey() })
    expect(events.map(({ type }) => type)).not.toContain('key-put')
    expect(state.keys.get(KEY_ID)?.secretHash).toBe(apiKey().secretHash)
  })

  test('has the identity provider hear again of the one that stays', () => {
    const { events } = opened().run({
      type: 'register-key',
      key: apiKey({ secretHash: ANOTHER_SECRET }),
    })
    expect(events.find(({ type }) => type === 'grant-opened')).toMatchObject({
      change: { keyId: KEY_ID },
    })
  })

  test('stays revoked', () => {
    const { state, run } = opened()
    run({ type: 'revoke-key', keyId: KEY_ID, nowMs: START_MS })
    for (const secretHash of [ANOTHER_SECRET, apiKey().secretHash]) {
      run({ type: 'register-key', key: apiKey({ secretHash }) })
      expect(state.keys.get(KEY_ID)?.revokedAtMs).toBe(START_MS)
    }
  })
})

test("another user's wallet is told to nobody, and stays theirs", () => {
  const { state, run } = opened()
  const { replies } = run({ type: 'create-wallet', wallet: { ...wallet, userId: STRANGER } })
  expect(replies[0]?.result).toMatchObject({ ok: false, fault: { code: 'NOT_FOUND' } })
  expect(state.wallet).toEqual(wallet)
})

test('a request that is named as what another user has is refused, and nothing is asked for', async () => {
  const asked: string[] = []
  const create = createdOnce(
    { nowMs: () => START_MS },
    {
      ...{ operation: 'create_key', prefix: 'key_' },
      newestBelow: () => null,
      isTaken(id) {
        asked.push(id)
        return true
      },
    },
    () => {
      throw new Error('made in its place')
    },
  )
  const idempotencyKey = creationKey(START_MS, new Uint8Array(10))
  const person = { userId: USER_ID, personId: USER_ID, role: 'owner' } as const
  const context = { requestId: 'r', ...person, email: null, token: '', presentedKey: null }
  expect(await create({ ...context, idempotencyKey }, {})).toMatchObject({
    ...{ ok: false, fault: { code: 'IDEMPOTENCY_KEY_REUSED' } },
  })
  expect(asked).toHaveLength(1)
})
