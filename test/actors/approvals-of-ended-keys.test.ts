import { beforeEach, describe, expect, test } from 'vitest'
import { countersOf } from '../../actors/sub-wallet/core/state.js'
import { type ApiKey, ROTATION_GRACE_MS } from '../../src/domain/api-key.js'
import { approvalIdOf } from '../../src/domain/approval.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import {
  apiKey,
  GAS_MICROS,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  USER_ID,
  wallet,
} from './wallet-fixtures.js'

/** What becomes of calls that wait for people when the key that asked for them ends. */

const WEEK_SECONDS = 7 * 86_400
const HOUR_MS = 3_600_000
const CHILD = 'key_0000000000000000000000000C'
const UNCAPPED = { dailyLimitMicros: null, monthlyLimitMicros: null }
const ASKS = policyOf({
  default: 'allow',
  rules: [
    {
      ...{ name: 'ask', effect: 'require_approval', when: {} },
      approvals: { needed: 1, expires_seconds: WEEK_SECONDS },
    },
  ],
})

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const key = apiKey({ ...UNCAPPED, policy: ASKS, mayDelegate: true })
  await it.run({ type: 'register-key', key })
})

async function withChild(said: Partial<ApiKey> = {}): Promise<void> {
  const key = apiKey({
    ...{ ...UNCAPPED, policy: ASKS, secretHash: 'c'.repeat(64), parentLineageId: LINEAGE_ID },
    ...{ keyId: CHILD as KeyId, lineageId: CHILD as LineageId },
    ...said,
  })
  expect(await it.run({ type: 'register-key', key })).toMatchObject({ ok: true })
}

function revoke(keyId: string = KEY_ID) {
  return it.run({ type: 'revoke-key', keyId: keyId as KeyId, nowMs: it.nowMs })
}

function events(): readonly string[] {
  const found = it.reader.fresh().events.ofUser(USER_ID, 0, Number.MAX_SAFE_INTEGER)
  return [...found].map(({ type }) => type)
}

function audits(): readonly string[] {
  const page = { limit: 50, cursor: null }
  const { items } = it.reader.fresh().audit.ofUser(USER_ID, page, () => true)
  return items.map(({ type }) => type)
}

/** Nothing is held for it, and nobody is asked about it any more. */
function expectEnded(n: number): void {
  expect(it.record(n)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
  expect(it.approval(n).status).toBe('expired')
  expect(it.reserved).toBe(0n)
  expect(it.state.waiting.byTx.size).toBe(0)
  expect(events()).toContain('transaction.dropped')
  expect(audits()).toContain('approval.dropped')
  expect([...it.reader.fresh().approvals.walletsWithWaiting()]).toEqual([])
}

describe('a call that waits ends with its key', () => {
  test('as soon as that is revoked, and the identity provider is told', async () => {
    await it.send(1, 100n)
    expect(await revoke()).toMatchObject({ ok: true })
    expectEnded(1)
    expect(it.forgotten()).toEqual([approvalIdOf(txIdOf(1))])
    expect(await it.approve(1)).toMatchObject({ ok: false, fault: { code: 'INVALID_REQUEST' } })
    it.restart()
    await it.resume()
    expectEnded(1)
    const wanted = new Set(it.effects.map(({ type }) => type))
    expect(wanted, 'a start has only the key to tell of').toEqual(new Set(['put-grant']))
  })

  test('and with each key above its own, on whose caps it is no more', async () => {
    await withChild()
    await it.send(1, 100n, { keyId: CHILD })
    expect(it.reserved).toBe(100n + GAS_MICROS)
    await revoke()
    expectEnded(1)
    const { reservedMicros } = countersOf(it.state, CHILD as LineageId, it.nowMs)
    expect(reservedMicros).toBe(0n)
  })

  test('not with a key below its own, nor with another one', async () => {
    await withChild()
    await it.send(1, 100n)
    await it.send(2, 7n, { keyId: CHILD })
    await revoke(CHILD)
    expect(it.record(1)?.status).toBe('awaiting_approval')
    expect(it.record(2)?.status).toBe('dropped')
    expect(it.reserved).toBe(100n + GAS_MICROS)
  })

  test('when it is let through and being screened again', async () => {
    await it.send(1, 100n)
    await it.approve(1)
    expect(it.state.waiting.byTx.get(txIdOf(1))?.phase).toBe('running')
    await revoke()
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
    expect(it.state.drafts.size).toBe(0)
    expect(it.reserved).toBe(0n)
    await it.settle()
    expect(it.asked()).toEqual([])
  })

  test('but not once the quorum was asked, which nobody can call back', async () => {
    await it.send(1, 100n)
    await it.approve(1)
    await it.settle()
    expect(it.asked()).toHaveLength(1)
    await revoke()
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.fail(1, 'COSIGNER_UNAVAILABLE')
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
    expect(it.reserved).toBe(0n)
  })

  test('the sponsored ones too', async () => {
    await it.swap(1, 100n)
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await revoke()
    expectEnded(1)
  })
})

test('a call whose key ends while it is screened does not begin to wait', async () => {
  await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
  while (!it.effects.some(({ type }) => type === 'ready-approval')) {
    expect(await it.answerOne()).toBe(true)
  }
  await revoke()
  await it.settle()
  expect(it.record(1)).toBeUndefined()
  expect(it.reserved).toBe(0n)
  expect(it.state.waiting.byTx.size).toBe(0)
  expect(it.effects).toContainEqual(
    expect.objectContaining({
      type: 'refused',
      fault: expect.objectContaining({ code: 'INVALID_KEY' }),
    }),
  )
})

describe('a key that ends by itself takes along what waits', () => {
  test.each(['the same process', 'one that started since'])('by the clock of %s', async (which) => {
    await withChild({ endsAtMs: START_MS + HOUR_MS })
    await it.send(1, 100n, { keyId: CHILD })
    if (which !== 'the same process') {
      it.restart()
      await it.resume()
    }
    await it.due(HOUR_MS - 1)
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.due(1)
    expectEnded(1)
  })

  test('a rotated one at the end of its grace, and its successor’s calls wait on', async () => {
    await it.send(1, 100n)
    const keyId = 'key_0000000000000000000000000N' as KeyId
    const claimId = 'claim'
    const of = { keyId, rotatedFrom: KEY_ID, patch: null }
    for (const { change } of it.state.grants.byKey.values()) {
      const { keyId: told, version } = change
      await it.run({ type: 'grant-answered', keyId: told, version, taken: true })
    }
    await it.run({ type: 'claim-grant', claimId, of, nowMs: it.nowMs })
    const successor = { keyId, secretHash: 'n'.repeat(64), secretPrefix: 'sk_test_bbbb' }
    const rotate = { type: 'rotate-key', keyId: KEY_ID, successor, claimId } as const
    expect(await it.run({ ...rotate, nowMs: it.nowMs })).toMatchObject({ ok: true })
    await it.send(2, 7n, { keyId })
    await it.due(ROTATION_GRACE_MS - 1)
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.due(1)
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
    expect(it.record(2)?.status).toBe('awaiting_approval')
    expect(it.reserved).toBe(7n + GAS_MICROS)
  })
})
