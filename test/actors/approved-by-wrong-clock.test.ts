import { expect, test } from 'vitest'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import { ADDRESS, apiKey, GAS_MICROS, preparedSend, txIdOf, wallet } from './wallet-fixtures.js'

const HOUR_MS = 3_600_000
const ASKED_MICROS = 300n
const SPENT_MICROS = 600n
const CAP_MICROS = SPENT_MICROS + ASKED_MICROS + 2n * GAS_MICROS

/** One call waits for people, and another, of which nobody is asked, has taken most of the day. */
async function whereMostIsSpent(): Promise<WaitingWallet> {
  const it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const rules = [
    {
      ...{ name: 'ask', effect: 'require_approval', when: { to: [ADDRESS] } },
      approvals: { needed: 1, expires_seconds: 86_400 },
    },
  ]
  const policy = policyOf({ default: 'allow', rules })
  const caps = { dailyLimitMicros: CAP_MICROS, monthlyLimitMicros: null }
  await it.run({ type: 'register-key', key: apiKey({ ...caps, policy }) })
  await it.run({ ...preparedSend(1, ASKED_MICROS, { to: ADDRESS }), nowMs: it.nowMs })
  await it.settle()
  await it.send(2, SPENT_MICROS)
  await it.sign(2)
  return it
}

test('a start whose clock is a day behind runs no approved call, and gives out no cap again', async () => {
  const it = await whereMostIsSpent()
  const rightMs = it.nowMs
  it.nowMs = rightMs - 26 * HOUR_MS
  it.restart()
  await it.approve(1)
  await it.settle()
  expect(it.asked()).toEqual([])
  it.nowMs = rightMs
  await it.due(0)
  await it.settle()
  expect(it.asked().map(({ draft }) => draft.txId)).toEqual([txIdOf(1)])
  await it.sign(1)
  expect(await it.send(3, 1n)).toMatchObject({ ok: false, fault: { code: 'LIMIT_EXCEEDED' } })
})

test('one that is an hour behind, on the same day, runs it as ever', async () => {
  const it = await whereMostIsSpent()
  it.nowMs -= HOUR_MS
  await it.approve(1)
  await it.settle()
  expect(it.asked().map(({ draft }) => draft.txId)).toEqual([txIdOf(1)])
})
