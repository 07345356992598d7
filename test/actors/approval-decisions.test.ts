import { beforeEach, describe, expect, test } from 'vitest'
import { followDecisions } from '../../actors/custody/decisions.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { approvalIdOf } from '../../src/domain/approval.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { ApprovalDecisions } from '../../src/service-custody/approval-messages.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, quoteOf, WaitingWallet } from './waiting-wallet.js'
import { apiKey, preparedSend, txIdOf, USER_ID, WALLET_ID, wallet } from './wallet-fixtures.js'

type Decided = ApprovalDecisions['decisions'][number]

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

async function asking(said: object = {}): Promise<void> {
  const rules = [{ name: 'ask', effect: 'require_approval', when: {}, ...said }]
  const policy = policyOf({ default: 'allow', rules })
  const caps = { dailyLimitMicros: null, monthlyLimitMicros: null }
  await it.run({ type: 'register-key', key: apiKey({ ...caps, policy }) })
}

const decided = (decision: Decided['decision']): Decided => ({
  ...{ approvalId: approvalIdOf(txIdOf(1)), subWalletId: WALLET_ID, userId: USER_ID, decision },
  ...{ authorizerId: ALICE, atMs: it.nowMs, comment: 'as said', proof: new Uint8Array(1) },
})

function atOnce(_atMs: number, task: () => void) {
  setImmediate(task)
  return { cancel: () => undefined }
}

/** What people decided at the identity provider's page, as it comes to the wallet. */
async function hears(decision: Decided, meanwhile = async () => {}): Promise<void> {
  const told: Command[] = []
  let looks = 0
  await followDecisions(
    {
      approvals: {
        decisions: async () => ({ decisions: looks++ === 0 ? [decision] : [], cursor: '1' }),
        approve: async () => ({ authorizerId: ALICE, proof: new Uint8Array(1) }) as never,
      },
      reader: it.reader,
      tell: ({ command }) => void told.push(command as Command),
      timers: { now: () => it.nowMs, at: atOnce },
      log: { warn: (context) => expect(context).toBeNull() },
    },
    () => looks > 1,
  )
  await meanwhile()
  for (const command of told) await it.run(command)
}

describe('what people decide at the identity provider', () => {
  test('holds for a call whose telling it has not answered yet', async () => {
    await asking()
    await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
    await it.settle({ told: false })
    expect(it.approval(1).toldAtMs).toBeNull()
    await hears(decided('approve'))
    expect(it.approval(1)).toMatchObject({ status: 'approved', toldAtMs: null })
    await it.settle()
    expect(it.asked()).toEqual([])
    await it.run({ type: 'approvals-rested' })
    await it.settle()
    expect(it.asked()).toHaveLength(1)
  })

  test('ends a call that is approved and has its delay before it', async () => {
    await asking({ delay_seconds: 600 })
    await it.send(1, 100n)
    await it.approve(1)
    expect(it.approval(1)).toMatchObject({ status: 'approved' })
    await hears(decided('decline'))
    expect(it.record(1)).toMatchObject({ status: 'declined', error: { message: 'as said' } })
    expect(it.reserved).toBe(0n)
  })

  test('is not taken for what they are asked about since', async () => {
    await asking({ approvals: { needed: 2 } })
    await it.send(1, 100n)
    await it.approve(1)
    const askedAgain = async () => {
      await it.approve(1, 'aut_of_another')
      await it.settle({ quote: quoteOf(110n) })
      expect(it.approval(1)).toMatchObject({ askedAgain: 'price', decisions: [] })
    }
    await hears(decided('approve'), askedAgain)
    expect(it.approval(1)).toMatchObject({ status: 'pending', decisions: [] })
  })
})

test('no term of a call comes back, however often people are asked again', async () => {
  await asking()
  await it.send(1, 100n)
  const terms = [it.approval(1).maxNativeWei]
  for (const worth of [120n, 150n, 200n]) {
    await it.approve(1)
    await it.settle({ quote: quoteOf(worth) })
    expect(it.approval(1)).toMatchObject({ status: 'pending', askedAgain: 'price' })
    terms.push(it.approval(1).maxNativeWei)
  }
  expect(new Set(terms).size).toBe(terms.length)
  expect([...terms].sort((a, b) => Number(a - b))).toEqual(terms)
})

test('a yes that one full line kept back is brought again, and keeps no other back', async () => {
  await asking()
  await it.send(1, 100n)
  const told: Command[] = []
  let [looks, tries] = [0, 0]
  await followDecisions(
    {
      approvals: {
        decisions: async () => ({
          decisions: looks++ === 0 ? [decided('approve')] : [],
          cursor: '1',
        }),
        approve: async () => {
          if (tries++ < 2) throw new FaultError(fault('OVERLOADED'))
          return { authorizerId: ALICE, proof: new Uint8Array(1) } as never
        },
      },
      reader: it.reader,
      tell: ({ command }) => void told.push(command as Command),
      timers: { now: () => it.nowMs, at: atOnce },
      log: { warn: (context) => expect(context).toBeNull() },
    },
    () => looks > 4,
  )
  expect(told).toHaveLength(1)
  for (const command of told) await it.run(command)
  expect(it.approval(1)).toMatchObject({ status: 'approved' })
})

test('a call says when it expired whether people had let it through', async () => {
  const ended = () => it.record(1)?.error?.message
  await asking({ effect: 'allow', delay_seconds: 60 })
  await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
  await it.settle({ told: false })
  await it.due(2 * 3_600_000)
  expect(it.record(1)?.status).toBe('expired')
  expect(ended()).toBe('The call was approved but could not be signed in time.')
})
