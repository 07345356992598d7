import { beforeEach, expect, test } from 'vitest'
import { refusalFault } from '../../actors/account/effects/refusal-fault.js'
import type { Fault } from '../../src/errors/fault.js'
import { failed } from '../../src/service-custody/outcome.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, BOB, WaitingWallet } from './waiting-wallet.js'
import { apiKey, GAS_MICROS, txIdOf, wallet } from './wallet-fixtures.js'

/**
 * Calls whose approvals stood when they were given, and count for too little once the identity
 * provider judges them: who gave one left the account meanwhile.
 */

const CAROL = `aut_${'c'.repeat(32)}`
const MINUTE_MS = 60_000
/** One refusal of the key's own would trip it. */
const BREAKERS = [{ kind: 'refusals', count: 1, per_seconds: 60 }]

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

async function asking(rule: object): Promise<void> {
  const rules = [{ name: 'ask', effect: 'require_approval', when: {}, ...rule }]
  const policy = policyOf({ default: 'allow', rules, breakers: BREAKERS })
  const key = apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy })
  await it.run({ type: 'register-key', key })
}

const TWO = { approvals: { needed: 2, expires_seconds: 3_600 } }

/** As the effects make it of what the identity provider answers. */
const tooFew = (): Fault => refusalFault(failed('APPROVAL_MISSING'))

async function signingFails(n: number): Promise<void> {
  const [asked] = it.asked()
  if (asked === undefined) throw new Error('the quorum was not asked')
  it.effects.splice(it.effects.indexOf(asked), 1)
  const { nonce } = asked
  const { nowMs } = it
  await it.run({ type: 'sign-failed', txId: txIdOf(n), nonce, fault: tooFew(), nowMs })
}

/** Two people approve what was asked for, and the quorum is asked next. */
async function bothApprove(): Promise<void> {
  await it.approve(1, ALICE)
  await it.approve(1, BOB)
  await it.settle()
}

test('people are asked again, within the same time, and it is signed once they approve', async () => {
  await asking(TWO)
  await it.send(1, 100n)
  const { expiresAtMs } = it.approval(1)
  await it.approve(1, ALICE)
  await it.approve(1, BOB)
  await it.due(MINUTE_MS)
  await it.settle()
  const before = it.approval(1).maxNativeWei
  await signingFails(1)
  expect(it.record(1)?.status).toBe('awaiting_approval')
  expect(it.approval(1)).toMatchObject({
    ...{ status: 'pending', askedAgain: 'people', decisions: [], needed: 2, expiresAtMs },
  })
  expect(it.approval(1).maxNativeWei, 'what was signed is good for nothing').not.toBe(before)
  expect(it.reserved).toBe(100n + GAS_MICROS)
  expect(it.forgotten()).toEqual([])
  it.restart()
  await it.resume()
  await it.settle()
  await it.approve(1, BOB)
  expect(it.asked()).toEqual([])
  await it.approve(1, CAROL)
  await it.settle()
  await it.sign(1)
  expect(it.record(1)?.status).toBe('signed')
})

test('a sponsored call’s too', async () => {
  await asking(TWO)
  await it.swap(1, 100n)
  await bothApprove()
  expect(it.intents()).toHaveLength(1)
  it.effects.length = 0
  const failedIntent = { type: 'intent-failed', txId: txIdOf(1), chainNonce: null } as const
  await it.run({ ...failedIntent, fault: tooFew(), nowMs: it.nowMs })
  expect(it.approval(1)).toMatchObject({ status: 'pending', askedAgain: 'people', decisions: [] })
  await it.settle()
  await it.approve(1, BOB)
  await it.approve(1, CAROL)
  await it.settle()
  expect(it.intents()).toHaveLength(1)
})

test('it ends at its time where nobody else approves', async () => {
  await asking(TWO)
  await it.send(1, 100n)
  await bothApprove()
  await signingFails(1)
  await it.settle()
  await it.due(60 * MINUTE_MS)
  expect(it.record(1)).toMatchObject({ status: 'expired', error: { code: 'EXPIRED' } })
  expect(it.reserved).toBe(0n)
})

test('no breaker of the key counts it as its refusal', async () => {
  await asking(TWO)
  await it.send(1, 100n)
  await bothApprove()
  await signingFails(1)
  expect(it.effects.filter(({ type }) => type === 'trip')).toEqual([])
})

test('what only waited for its time is dropped: there is nobody to ask', async () => {
  await asking({ effect: 'allow', delay_seconds: 60 })
  await it.send(1, 100n)
  await it.due(2 * MINUTE_MS)
  await it.settle()
  await signingFails(1)
  expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'PERMISSION_DENIED' } })
  expect(it.reserved).toBe(0n)
})
