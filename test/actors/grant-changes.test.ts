import { beforeEach, describe, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Effect } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { apiKey, KEY_ID, START_MS, WALLET_ID, wallet } from './wallet-fixtures.js'

let state: SubWalletState
let told: Extract<Effect, { type: 'put-grant' }>[]

beforeEach(() => {
  state = emptyState(WALLET_ID)
  told = []
  run({ type: 'create-wallet', wallet })
  run({ type: 'register-key', key: apiKey() })
})

/** @returns the answer */
function run(command: Command): unknown {
  const { effects, replies } = decide(state, command, 1)
  told.push(...effects.filter((effect) => effect.type === 'put-grant'))
  const result = replies[0]?.result
  return result === undefined || result.ok ? result?.value : result.fault.code
}

function revoke(keyId: KeyId): void {
  run({ type: 'revoke-key', keyId, nowMs: START_MS })
}

function claim(patch: Partial<ApiKey>, claimId = 'claim'): unknown {
  const of = { keyId: KEY_ID, rotatedFrom: null, patch }
  return run({ type: 'claim-grant', claimId, of, nowMs: START_MS })
}

function answer(taken: boolean): void {
  const change = told.at(-1)?.change
  if (change === undefined) throw new Error('nothing was told')
  const { keyId, version } = change
  run({ type: 'grant-answered', keyId, version, taken })
}

describe('what the identity provider has yet to take', () => {
  test('is sent once more after each failure, and no more once it is taken', () => {
    revoke(KEY_ID)
    for (let failures = 0; failures < 3; failures++) {
      expect(told.at(-1)).toMatchObject({ key: { revokedAtMs: START_MS }, failures })
      answer(false)
      expect(told).toHaveLength(failures + 1)
      run({ type: 'grants-rested' })
    }
    answer(true)
    run({ type: 'grants-rested' })
    expect(told).toHaveLength(4)
    expect(state.grants.byKey.size).toBe(0)
  })

  test('is not settled by the acknowledgement of an earlier change', () => {
    const patch = { dailyLimitMicros: 5n } as Partial<ApiKey>
    run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: START_MS })
    revoke(KEY_ID)
    expect(told).toHaveLength(1)
    answer(true)
    expect(run({ type: 'await-grant', keyId: KEY_ID })).toBeUndefined()
    expect(told).toHaveLength(2)
    answer(true)
    expect(run({ type: 'await-grant', keyId: KEY_ID })).toEqual({ custody: 'current' })
  })

  test('keeps others of its key from being enlarged, who hear of it when it cannot be sent', () => {
    const patch = { dailyLimitMicros: 5n } as Partial<ApiKey>
    run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: START_MS })
    expect(claim({ dailyLimitMicros: 6n as never })).toBeUndefined()
    const { replies } = decide(
      state,
      { type: 'grant-answered', keyId: KEY_ID, version: 1, taken: false },
      null,
    )
    expect(replies).toMatchObject([{ result: { ok: false } }])
  })
})

describe('an enlargement', () => {
  const larger = { dailyLimitMicros: 2_000n } as Partial<ApiKey>

  test('is not made without the claim under which the user confirmed it', () => {
    const command = { type: 'patch-key', keyId: KEY_ID, patch: larger, nowMs: START_MS } as const
    expect(run({ ...command, claimId: null })).toEqual({ outdated: true })
    expect(run({ ...command, claimId: 'of nobody' })).toEqual({ outdated: true })
    expect(state.keys.get(KEY_ID)).toEqual(apiKey())
  })

  test('is given up when the key was narrowed while the user was asked', () => {
    claim(larger)
    const narrow = { allowedChains: [] } as Partial<ApiKey>
    run({ type: 'patch-key', keyId: KEY_ID, patch: narrow, claimId: null, nowMs: START_MS })
    expect(told).toEqual([])
    const commit = { type: 'patch-key', keyId: KEY_ID, patch: larger, claimId: 'claim' } as const
    expect(run({ ...commit, nowMs: START_MS })).toEqual({ outdated: true })
    expect(state.keys.get(KEY_ID)).toEqual(apiKey({ allowedChains: [] }))
    expect(told).toMatchObject([{ key: { allowedChains: [], dailyLimitMicros: 1_000n } }])
  })

  test('that was refused leaves nothing to tell', () => {
    claim(larger)
    const of = { keyId: KEY_ID, rotatedFrom: null, patch: larger }
    run({ type: 'end-claim', claimId: 'claim', of, taken: 'no', nowMs: START_MS })
    expect(told).toEqual([])
    expect(state.grants.byKey.size).toBe(0)
  })

  test('that was refused takes nothing away, although the key was changed while it was asked for', () => {
    const asked = { ...larger, allowedChains: [] }
    claim(asked)
    const patch = { dailyLimitMicros: 900n } as Partial<ApiKey>
    run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: START_MS })
    const of = { keyId: KEY_ID, rotatedFrom: null, patch: asked }
    run({ type: 'end-claim', claimId: 'claim', of, taken: 'no', nowMs: START_MS })
    // The process ends here and starts again.
    run({ type: 'resume', nowMs: START_MS })
    expect(state.keys.get(KEY_ID)).toEqual(apiKey(patch))
    expect(told).toMatchObject([{ key: { allowedChains: apiKey().allowedChains } }])
    answer(true)
    expect(state.grants.byKey.size).toBe(0)
  })
})

const SUCCESSOR = 'key_00000000000000000000009999' as KeyId

test('a successor that finds no place in its wallet is ended at the identity provider', () => {
  for (let n = 1; n < 500; n++) {
    const keyId = `key_${String(n + 1).padStart(26, '0')}` as KeyId
    run({ type: 'register-key', key: apiKey({ keyId, lineageId: keyId as string as LineageId }) })
  }
  const of = { keyId: SUCCESSOR, rotatedFrom: KEY_ID, patch: null }
  run({ type: 'claim-grant', claimId: 'claim', of, nowMs: START_MS })
  const successor = { keyId: SUCCESSOR, secretHash: 'bb'.repeat(32), secretPrefix: 'sk_test_bbbb' }
  const command = { type: 'rotate-key', keyId: KEY_ID, successor, claimId: 'claim' } as const
  expect(run({ ...command, nowMs: START_MS })).toBe('INVALID_REQUEST')
  expect(told).toMatchObject([{ key: null, change: { keyId: SUCCESSOR, rotatedFrom: KEY_ID } }])
  answer(true)
  expect(state.grants.byKey.size).toBe(0)
})

test('a key that finds no place in its wallet is ended at the identity provider', () => {
  for (let n = 1; n < 501; n++) {
    const keyId = `key_${String(n + 1).padStart(26, '0')}` as KeyId
    const key = apiKey({ keyId, lineageId: keyId as string as LineageId })
    const refused = run({ type: 'register-key', key })
    expect(refused === 'INVALID_REQUEST').toBe(n === 500)
  }
  expect(told).toMatchObject([{ key: null, change: { keyId: `key_${'501'.padStart(26, '0')}` } }])
})
