import { expect, test } from 'vitest'
import { approvedBy } from '../../actors/custody/decisions.js'
import { termOfCall } from '../../src/custody/approvals/approval-term.js'
import { askedCall, type GivenDecision, isApproved } from '../../src/domain/approval.js'
import {
  type ApprovalsContext,
  createRemoteApprovals,
} from '../../src/service-custody/approvals.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, BOB, WaitingWallet } from './waiting-wallet.js'
import { apiKey, txIdOf, wallet } from './wallet-fixtures.js'

/** Who approved a call and left its account, or may not approve there any more, is nobody's yes. */

const CAROL = `aut_${'c'.repeat(32)}`

async function waitingForTwo(): Promise<WaitingWallet> {
  const it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const rules = [
    {
      ...{ name: 'ask', effect: 'require_approval', when: {} },
      approvals: { needed: 2, expires_seconds: 3_600 },
    },
  ]
  const policy = policyOf({ default: 'allow', rules })
  const key = apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy })
  await it.run({ type: 'register-key', key })
  await it.send(1, 100n)
  return it
}

/** The service as it has them verify an approval; each authorizer is of the person of its letter. */
function service(members: ReadonlySet<string>) {
  const proof = Buffer.alloc(64, 1)
  let by = ALICE
  const context = {
    userSide: { call: async () => [Buffer.from(by.slice('aut_'.length), 'hex'), proof] },
    authority: { proofOver: async () => proof, accepted: async () => 'passkey' },
    evidence: { append: async () => {} },
    members: {
      approversBy: (_: string, id: Uint8Array) => {
        const person = Buffer.from(id).toString('hex').slice(0, 1)
        return members.has(person) ? [person] : []
      },
    },
    nowMs: () => 1,
  } as unknown as ApprovalsContext
  const remote = createRemoteApprovals(context)
  return async (it: WaitingWallet, authorizerId: string): Promise<GivenDecision> => {
    by = authorizerId
    const approval = it.approval(1)
    const tx = it.record(1)
    if (tx === undefined) throw new Error('no record')
    const port = {
      approve: (asked: Parameters<typeof termOfCall>[0], given: object) =>
        remote.approve({
          ...{ consoleToken: '', authorization: null, earlier: [], ...given },
          ...{ term: termOfCall(asked).term, userId: asked.userId },
        }),
    }
    expect(askedCall(approval, tx).approvalId).toBe(approval.approvalId)
    const confirmed = { consoleToken: '', authorization: null }
    const timers = { now: () => it.nowMs }
    return approvedBy({ approvals: port, timers }, approval, tx, confirmed, null)
  }
}

function say(it: WaitingWallet, decision: GivenDecision) {
  const { maxNativeWei } = it.approval(1)
  const { nowMs } = it
  const of = { type: 'decide-approval', txId: txIdOf(1), requestId: null } as const
  return it.run({ ...of, decision, maxNativeWei, nowMs })
}

test('of two who approved, one of whom left before the other did, another has to', async () => {
  const it = await waitingForTwo()
  const members = new Set(['a', 'b', 'c'])
  const approve = service(members)
  await say(it, await approve(it, ALICE))
  members.delete('a')
  await say(it, await approve(it, BOB))
  expect(it.approval(1)).toMatchObject({
    status: 'pending',
    decisions: [
      { authorizerId: ALICE, personIds: [] },
      { authorizerId: BOB, personIds: ['b'] },
    ],
  })
  expect(isApproved(it.approval(1))).toBe(false)
  it.restart()
  await it.resume()
  await it.settle()
  expect(it.asked()).toEqual([])
  await say(it, await approve(it, CAROL))
  await it.settle()
  expect(it.asked()).toHaveLength(1)
})

test('who left and came back approves it again', async () => {
  const it = await waitingForTwo()
  const members = new Set(['a', 'b'])
  const approve = service(members)
  await say(it, await approve(it, ALICE))
  members.delete('a')
  await say(it, await approve(it, BOB))
  members.add('a')
  expect(await say(it, await approve(it, ALICE))).toMatchObject({ value: { status: 'approved' } })
  expect(it.approval(1).decisions.map(({ authorizerId }) => authorizerId)).toEqual([BOB, ALICE])
})

test('who stays counts as before, and nothing but the decision itself is kept', async () => {
  const it = await waitingForTwo()
  const approve = service(new Set(['a', 'b']))
  await say(it, await approve(it, ALICE))
  await say(it, await approve(it, BOB))
  expect(it.approval(1).status).toBe('approved')
  for (const decision of it.approval(1).decisions) expect(decision).not.toHaveProperty('holdersNow')
})
