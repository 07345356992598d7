import { beforeEach, describe, expect, test } from 'vitest'
import { laneOf } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import { evolve } from '../../actors/sub-wallet/core/evolve.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { areStillKnown } from '../../actors/sub-wallet/core/policy-ledgers.js'
import { WAITING_MAX, WAITING_OF_USER_MAX } from '../../actors/sub-wallet/core/waiting-state.js'
import { payeesToTell } from '../../actors/sub-wallet/effects/read-payees.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { approvalIdOf } from '../../src/domain/approval.js'
import { fault } from '../../src/errors/fault.js'
import type { CallQuote } from '../../src/valuation/quoter.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, BOB, quoteOf, valuedAfter, WaitingWallet } from './waiting-wallet.js'
import {
  apiKey,
  CHAIN_ID,
  GAS_MICROS,
  KEY_ID,
  preparedSend,
  START_MS,
  txIdOf,
  wallet,
} from './wallet-fixtures.js'

const HOUR_MS = 3_600_000
const ASKS = { name: 'ask', effect: 'require_approval', when: {} }

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

async function keyWith(policy: object, said: Partial<ApiKey> = {}): Promise<void> {
  const key = apiKey({
    ...{ dailyLimitMicros: null, monthlyLimitMicros: null },
    policy: policyOf({ default: 'allow', ...policy }),
    ...said,
  })
  await it.run({ type: 'register-key', key })
}

/** With the policy's own time and people. */
async function asking(said: object = {}): Promise<void> {
  await keyWith({ rules: [{ ...ASKS, ...said }] })
}

describe('a call that a rule asks about', () => {
  test('waits with its spend reserved and no nonce, through a restart', async () => {
    await asking()
    const answer = await it.send(1, 100n)
    expect(answer).toMatchObject({ ok: true })
    expect(it.record(1)).toMatchObject({
      ...{ status: 'awaiting_approval', nonce: -1, attempts: [] },
      approval: { rule: 'ask', needed: 1, expiresAtMs: START_MS + HOUR_MS },
    })
    expect(it.reserved).toBe(100n + GAS_MICROS)
    expect(it.asked()).toEqual([])
    it.restart()
    expect(it.reserved).toBe(100n + GAS_MICROS)
    expect(it.state.waiting.byTx.size).toBe(1)
  })

  test('is signed once it is approved, and not before', async () => {
    await asking()
    await it.send(1, 100n)
    expect(await it.approve(1)).toMatchObject({ ok: true, value: { status: 'approved' } })
    await it.settle()
    expect(it.asked()).toHaveLength(1)
    expect(it.asked()[0]?.draft).toMatchObject({ proofKey: null, approval: { proofs: ['0x02'] } })
    await it.sign(1)
    expect(it.record(1)).toMatchObject({
      ...{ status: 'signed', nonce: 0, createdAtMs: START_MS },
      approval: { rule: 'ask' },
    })
    expect(it.state.waiting.byTx.size).toBe(0)
    expect(it.reserved).toBe(100n + GAS_MICROS)
  })

  test('lets the other calls of the wallet go on', async () => {
    const when = { value_native_gt: '1000' }
    await asking({ when })
    await it.send(1, 5_000n)
    await it.send(2, 7n)
    expect(it.asked().map(({ draft, nonce }) => [draft.txId, nonce])).toEqual([[txIdOf(2), 0]])
  })

  test('does not hide from the wallet whom it has paid, also after a restart', async () => {
    await asking()
    await it.send(1, 100n)
    const rules = [{ name: 'strangers', effect: 'deny', when: { new_beneficiary: true } }]
    const policy = policyOf({ rules, default: 'allow' })
    for (const _ of ['before', 'after']) {
      const payees = payeesToTell(it.reader, it.state, KEY_ID, policy)
      expect(payees).toEqual({ times: new Map(), openAtRead: [txIdOf(1)] })
      if (payees !== null) expect(areStillKnown(it.state, payees)).toBe(true)
      it.restart()
    }
  })

  test('wants distinct people', async () => {
    await asking({ approvals: { needed: 2, expires_seconds: 60 } })
    await it.send(1, 100n)
    await it.approve(1, ALICE)
    await it.approve(1, ALICE)
    await it.settle()
    expect(it.approval(1)).toMatchObject({ status: 'pending', decisions: [{}] })
    expect(it.asked()).toEqual([])
    await it.approve(1, BOB)
    await it.settle()
    expect(it.asked()).toHaveLength(1)
  })

  test('ends declined, with the comment, and holds nothing', async () => {
    await asking()
    await it.send(1, 100n)
    await it.decline(1, 'not this one')
    expect(it.record(1)).toMatchObject({
      ...{ status: 'declined', spentMicros: 0n },
      error: { message: 'not this one' },
    })
    expect(it.reserved).toBe(0n)
    expect(await it.approve(1)).toMatchObject({ ok: false })
    it.restart()
    expect(it.state.waiting.byTx.size).toBe(0)
  })

  test('ends expired at its time, also after a restart', async () => {
    await asking({ approvals: { needed: 1, expires_seconds: 60 } })
    await it.send(1, 100n)
    it.restart()
    it.nowMs += 59_999
    await it.resume()
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.due(1)
    expect(it.record(1)?.status).toBe('expired')
    expect(it.reserved).toBe(0n)
  })

  test('is withdrawn by a key of its lineage alone', async () => {
    await asking()
    await keyWith({}, { keyId: 'key_x' as never, lineageId: 'key_x' as never, secretHash: 'x' })
    await it.send(1, 100n)
    expect(await it.withdraw(1, 'key_x' as never)).toMatchObject({ fault: { code: 'NOT_FOUND' } })
    expect(await it.withdraw(1)).toMatchObject({ ok: true, value: { status: 'withdrawn' } })
    expect(it.reserved).toBe(0n)
  })

  test('answers its Idempotency-Key with the same call, and is a duplicate of itself', async () => {
    await keyWith({ rules: [ASKS] }, { duplicateGuard: 'on' })
    const idempotency = { key: 'k', bodyHash: 'b' }
    await it.send(1, 100n, { idempotency })
    expect(await it.send(2, 100n, { idempotency })).toMatchObject({
      ok: true,
      value: { replayed: true, tx: { txId: txIdOf(1) } },
    })
    expect(await it.send(3, 100n)).toMatchObject({ fault: { code: 'DUPLICATE_SUSPECTED' } })
  })

  test('counts for caps, counts and ceilings while it waits', async () => {
    const count = { count: { per_seconds: 3_600, gt: 2 } }
    const rules = [ASKS, { name: 'pace', effect: 'deny', when: count }]
    await keyWith({ rules }, { dailyLimitMicros: 500n })
    await it.send(1, 300n)
    expect(await it.send(2, 300n)).toMatchObject({ fault: { code: 'LIMIT_EXCEEDED' } })
    await it.send(3, 10n)
    it.restart()
    expect(await it.send(4, 10n, { chainNonce: 0 })).toMatchObject({
      fault: { code: 'POLICY_DENIED', details: { rule: 'pace' } },
    })
  })
})

describe('judged again when it is approved', () => {
  async function approved(quote?: CallQuote): Promise<void> {
    await it.approve(1)
    await it.settle(quote === undefined ? {} : { quote })
  }

  test('it is dropped where a key above its own is revoked, whatever its own record says', async () => {
    const above = 'key_above' as never
    const parent = { keyId: above, lineageId: above, secretHash: 'above', mayDelegate: true }
    await keyWith({}, parent)
    await keyWith({ rules: [ASKS] }, { parentLineageId: above })
    expect(await it.send(1, 100n)).toMatchObject({ ok: true })
    const key = { ...apiKey(parent), revokedAtMs: it.nowMs }
    const [change, requestId, atMs] = ['revoked', null, it.nowMs] as const
    evolve(it.state, { type: 'key-put', key, change, requestId, atMs })
    await approved()
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
    expect(it.reserved).toBe(0n)
  })

  test.each([
    [
      'the key is revoked',
      'INVALID_KEY',
      async () => it.run({ type: 'revoke-key', keyId: KEY_ID, nowMs: it.nowMs }),
    ],
    [
      'an address is listed',
      'ADDRESS_BLOCKED',
      async () => {
        it.screening = fault('ADDRESS_BLOCKED')
      },
    ],
  ] as const)('it is dropped where %s', async (_, code, meanwhile) => {
    await asking()
    await it.send(1, 100n)
    await meanwhile()
    await approved()
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code } })
    expect(it.reserved).toBe(0n)
    expect(it.asked()).toEqual([])
  })

  test('it is dropped where its balance is gone', async () => {
    await asking()
    await it.send(1, 100n)
    await approved({ ...quoteOf(100n), problem: fault('INSUFFICIENT_FUNDS') })
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INSUFFICIENT_FUNDS' } })
  })

  test('it is dropped where the wallet is frozen meanwhile', async () => {
    await asking()
    await it.send(1, 100n)
    const user = { sinceMs: START_MS, reason: null, by: 'user' } as const
    it.freezes = {
      instance: null,
      user: { scope: 'user', ...user },
      wallets: new Map(),
      lineages: new Map(),
    }
    await approved()
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'FROZEN' } })
    expect(it.reserved).toBe(0n)
  })

  test('people are asked again where the price has moved, and what they said is forgotten', async () => {
    await asking()
    await it.send(1, 100n)
    await approved(quoteOf(110n))
    expect(it.record(1)?.status).toBe('awaiting_approval')
    expect(it.approval(1)).toMatchObject({
      ...{ status: 'pending', askedAgain: 'price', decisions: [], valueMicros: 110n },
    })
    expect(it.reserved).toBe(110n + GAS_MICROS)
    await it.settle()
    await approved(quoteOf(110n))
    expect(it.asked()).toHaveLength(1)
    expect(it.approval(1).maxNativeWei).not.toBe(63_000n)
  })

  test.each([
    [94n, 'price'],
    [95n, null],
    [105n, null],
    [106n, 'price'],
  ] as const)('what was 100 and is %i now is asked about again: %s', async (now, askedAgain) => {
    await asking()
    await it.send(1, 100n)
    await approved(quoteOf(now))
    expect(it.asked()).toHaveLength(askedAgain === null ? 1 : 0)
    if (askedAgain === null) return
    expect(it.approval(1)).toMatchObject({ askedAgain, decisions: [], valueMicros: now })
  })

  test('people are asked again where gas would cost more than they signed', async () => {
    await asking()
    await it.send(1, 100n)
    const fees = { maxFeePerGas: 4n, maxPriorityFeePerGas: 1n }
    await approved({ ...quoteOf(100n), fees })
    expect(it.approval(1)).toMatchObject({ askedAgain: 'gas', maxNativeWei: 21_000n * 12n })
  })

  test('what does not answer is tried again, until it expires', async () => {
    await asking()
    await it.send(1, 100n)
    await approved({ ok: false, fault: fault('CHAIN_UNAVAILABLE') })
    expect(it.record(1)?.status).toBe('awaiting_approval')
    expect(it.reserved).toBe(100n + GAS_MICROS)
    await it.due(1_000)
    await it.settle()
    expect(it.asked()).toHaveLength(1)
  })

  test('what the quorum could not sign is tried again, and a restart goes on with it', async () => {
    await asking()
    await it.send(1, 100n)
    await approved()
    const [asked] = it.asked()
    await it.run({
      ...{ type: 'sign-failed', txId: txIdOf(1), nonce: asked?.nonce ?? 0, nowMs: it.nowMs },
      fault: fault('COSIGNER_UNAVAILABLE'),
    })
    expect(it.record(1)?.status).toBe('awaiting_approval')
    it.restart()
    await it.resume()
    await it.settle()
    expect(it.asked()).toHaveLength(1)
    await it.sign(1)
    expect(it.record(1)?.status).toBe('signed')
  })

  describe('with the quorum asked to sign it at a nonce', () => {
    const asked = () => it.asked().map(({ draft, nonce }) => [draft.txId, nonce])

    beforeEach(async () => {
      await asking({ when: { value_native_gt: '1000' } })
      await it.send(1, 5_000n)
      await it.approve(1)
      await it.settle({ quote: quoteOf(5_000n) })
      expect(asked()).toEqual([[txIdOf(1), 0]])
    })

    test('a crash leaves it that nonce, whatever is sent meanwhile', async () => {
      it.restart()
      await it.send(2, 7n)
      expect(asked()).toEqual([])
      await it.resume()
      await it.settle({ quote: quoteOf(5_000n) })
      expect(asked()).toEqual([
        [txIdOf(1), 0],
        [txIdOf(2), 1],
      ])
      await it.sign(1)
      expect(it.record(1)).toMatchObject({ status: 'signed', nonce: 0 })
    })

    test('a quorum that does not answer leaves it that nonce', async () => {
      await it.send(2, 7n)
      await it.fail(1, 'COSIGNER_UNAVAILABLE')
      await it.fail(2, 'COSIGNER_UNAVAILABLE')
      await it.send(3, 8n)
      expect(asked()).toEqual([])
      await it.due(1_000)
      await it.settle({ quote: quoteOf(5_000n) })
      expect(asked()).toEqual([
        [txIdOf(1), 0],
        [txIdOf(3), 1],
      ])
    })

    test.each([
      ['it is withdrawn', () => it.withdraw(1)],
      [
        'it expires',
        () => {
          it.nowMs += HOUR_MS
          return it.resume()
        },
      ],
    ])('others have that nonce as soon as %s', async (_, end) => {
      it.restart()
      await it.send(2, 7n)
      await end()
      expect(asked()).toEqual([[txIdOf(2), 0]])
    })

    test('others have that nonce where it is refused', async () => {
      it.restart()
      await it.send(2, 7n)
      await it.resume()
      it.screening = fault('ADDRESS_BLOCKED')
      await it.settle({ quote: quoteOf(5_000n) })
      expect(it.record(1)?.status).toBe('dropped')
      expect(asked()).toEqual([[txIdOf(2), 0]])
    })

    test('others do not wait for it for longer than it rests six times', async () => {
      const quote = { ok: false, fault: fault('CHAIN_UNAVAILABLE') } as const
      it.restart()
      await it.send(2, 7n)
      await it.resume()
      await it.settle({ quote })
      for (let rests = 1; rests < 6; rests++) {
        expect(asked()).toEqual([])
        await it.due(60_000)
        await it.settle({ quote })
      }
      expect(asked()).toEqual([[txIdOf(2), 0]])
    })
  })

  test('nothing stops it once it has its nonce', async () => {
    await asking()
    await it.send(1, 100n)
    await approved()
    expect(await it.withdraw(1)).toMatchObject({ ok: false })
    expect(await it.decline(1)).toMatchObject({ ok: false })
    await it.sign(1)
    expect(it.record(1)?.status).toBe('signed')
  })

  test('a decline while it is being screened wins', async () => {
    await asking()
    await it.send(1, 100n)
    await it.approve(1)
    expect(await it.decline(1)).toMatchObject({ ok: true })
    await it.settle()
    expect(it.record(1)?.status).toBe('declined')
    expect(it.asked()).toEqual([])
  })

  test('it is signed at no nonce that could move down', async () => {
    const when = { value_native_gt: '1000' }
    await asking({ when })
    await it.send(1, 5_000n)
    await it.send(2, 7n)
    await approved()
    expect(it.asked().map(({ draft }) => draft.txId)).toEqual([txIdOf(2)])
    await it.sign(2)
    expect(it.asked().map(({ draft, nonce }) => [draft.txId, nonce])).toEqual([[txIdOf(1), 1]])
  })
})

test('the clock is asked for no time twice, however many calls come and go', async () => {
  await asking({ effect: 'allow', delay_seconds: 60 })
  for (let n = 1; n <= 10; n++) {
    await it.send(n, 100n)
    expect(it.wakes().length).toBeLessThanOrEqual(2)
    await it.due(61_000)
    await it.settle()
    await it.sign(n)
  }
  expect(it.wakes().length).toBeLessThanOrEqual(1)
})

describe('the identity provider forgets a call that ends', () => {
  const forgotten = () => it.forgotten().filter((id) => id === approvalIdOf(txIdOf(1))).length

  beforeEach(async () => {
    await asking()
  })

  test.each([true, false])('while it is being told of it, answered by %s', async (taken) => {
    await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
    for (const _ of ['screened', 'approval-ready']) await it.answerOne()
    const { maxNativeWei } = it.approval(1)
    await it.withdraw(1)
    const before = forgotten()
    const { nowMs } = it
    await it.run({ type: 'approval-registered', txId: txIdOf(1), maxNativeWei, taken, nowMs })
    expect(forgotten()).toBe(before + 1)
  })

  test('while it has yet to be told that people are asked again', async () => {
    await it.send(1, 100n)
    await it.approve(1)
    await it.answerOne(true, quoteOf(110n))
    expect(it.approval(1)).toMatchObject({ askedAgain: 'price', toldAtMs: null })
    await it.withdraw(1)
    expect(forgotten()).toBe(1)
  })
})

test('a delay that became longer holds for what waits already', async () => {
  await asking({ effect: 'allow', delay_seconds: 60 })
  await it.send(1, 100n)
  await asking({ effect: 'allow', delay_seconds: 7_200 })
  await it.due(61_000)
  await it.settle()
  expect(it.asked()).toEqual([])
  const dueAtMs = it.nowMs + 7_200_000
  expect(it.approval(1)).toMatchObject({ askedAgain: 'policy', delaySeconds: 7_200 })
  expect(it.approval(1).expiresAtMs).toBeGreaterThan(dueAtMs)
  expect(it.record(1)?.approval).toMatchObject({ runsAtMs: dueAtMs })
  await it.due(7_200_000)
  await it.settle()
  expect(it.asked()).toEqual([])
  await it.due(1_000)
  await it.settle()
  expect(it.asked()).toHaveLength(1)
})

describe('calls of contracts in line behind one that was taken back', () => {
  const signing = () => it.asked().map(({ draft, nonce }) => [draft.txId, nonce])

  beforeEach(async () => {
    await asking({ when: { spend_usd_gt: '0.001' } })
  })

  test('go on when it begins to wait for approval', async () => {
    await it.callContract(1, 7n)
    await it.settle()
    expect(signing()).toEqual([[txIdOf(1), 0]])
    for (const n of [2, 3]) await it.callContract(n, 7n, [])
    it.worth.set(txIdOf(2), 2_000n)
    await it.settle()
    expect(it.record(2)?.status).toBe('awaiting_approval')
    expect(signing()).toEqual([
      [txIdOf(1), 0],
      [txIdOf(3), 1],
    ])
  })

  test.each([
    ['is withdrawn', () => it.withdraw(2)],
    ['is declined', () => it.decline(2)],
  ])('go on when it %s', async (_, end) => {
    await it.callContract(2, 2_000n)
    await it.settle()
    await it.callContract(1, 7n)
    await it.settle()
    await it.approve(2)
    await it.settle({ quote: valuedAfter(quoteOf(2_000n), []) })
    expect(signing()).toEqual([[txIdOf(1), 0]])
    await it.sign(1)
    expect(it.state.drafts.get(txIdOf(2))?.phase).toBe('screening')
    await it.callContract(3, 7n)
    // 2 is valued again and has yet to be screened again, when 3 has been screened.
    for (const _ of [2, 3]) await it.answerOne()
    expect(laneOf(it.state, CHAIN_ID).line).toEqual([txIdOf(2), txIdOf(3)])
    await end()
    await it.settle()
    expect(it.record(2)?.status).not.toBe('awaiting_approval')
    expect(signing()).toEqual([[txIdOf(3), 1]])
  })
})

describe('a call that waits for its time', () => {
  const DELAYED = { effect: 'allow', delay_seconds: 600 }

  test('is signed at its time, counted from when the identity provider knew', async () => {
    await asking(DELAYED)
    await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
    await it.settle({ told: false })
    await it.due(600_000)
    await it.run({ type: 'approvals-rested' })
    await it.settle()
    await it.due(599_000)
    await it.settle()
    expect(it.asked()).toEqual([])
    it.restart()
    await it.resume()
    await it.due(2_000)
    await it.settle()
    expect(it.asked()).toHaveLength(1)
    expect(it.asked()[0]?.draft.approval).toMatchObject({ proofs: [] })
  })

  test('a cancellation that was answered wins, also across a restart', async () => {
    await asking(DELAYED)
    await it.send(1, 100n)
    expect(await it.withdraw(1)).toMatchObject({ ok: true })
    it.restart()
    await it.resume()
    await it.due(3_600_000)
    await it.settle()
    expect(it.asked()).toEqual([])
    expect(it.record(1)?.status).toBe('withdrawn')
  })
})

test('a user has so many waiting at the most, whatever the wallet', async () => {
  await asking()
  it.others = WAITING_OF_USER_MAX
  expect(await it.send(1, 100n)).not.toMatchObject({ ok: true })
  expect(it.reserved).toBe(0n)
  expect(it.record(1)).toBeUndefined()
})

test('as many as may wait do, and one more is refused with nothing held', async () => {
  await asking()
  for (let n = 1; n <= WAITING_MAX; n++) {
    const { events } = decide(it.state, { ...preparedSend(n, 1n), nowMs: START_MS + n * 20_000 }, n)
    expect(events.length).toBeGreaterThan(0)
    for (const command of [
      { type: 'screened', txId: txIdOf(n), refusal: null, screenedAgainst: [], requoted: null },
      { type: 'approval-ready', txId: txIdOf(n), keyProof: '0x01', url: null, userWaiting: 0 },
    ] as const) {
      decide(it.state, { ...command, nowMs: START_MS } as Command, null)
    }
  }
  expect(it.state.waiting.byTx.size).toBe(WAITING_MAX)
  const { replies } = decide(it.state, { ...preparedSend(9_999, 2n), nowMs: START_MS }, 1)
  expect(replies[0]?.result).toMatchObject({ fault: { code: 'OVERLOADED' } })
  expect(it.reserved).toBe(BigInt(WAITING_MAX) * (1n + GAS_MICROS))
})
