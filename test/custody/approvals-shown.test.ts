import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApprovalTerm, encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import { ID_PREFIX, ulidBody, ulidBytes } from '../../src/domain/ids.js'
import { keccak256 } from '../../src/domain/keccak.js'
import { linesOf, stateOf } from '../../src/identity-provider/approvals/approval-page.js'
import {
  type ApprovalContext,
  createApprovals,
} from '../../src/identity-provider/vault/approvals.js'
import type { P256Signer } from '../../src/quorum-protocol/p256.js'
import {
  idOf,
  LIVE,
  newHome,
  openWorld,
  ownerHashOf,
  removeHome,
  type World,
} from './member-world.js'

/** What each person of an account is shown of a call that several of them approve. */
const ADA = 'user_ada'
const BOB = 'user_bob'
const CALL = Buffer.alloc(0)
const NOW_MS = Date.now()
const APPROVAL_ID = ulidBytes(`${ID_PREFIX.approval}${ulidBody(NOW_MS, randomBytes(10))}`)
const TERM: ApprovalTerm = {
  ...{ kind: 'transaction', approvalId: APPROVAL_ID, chainId: 8453, value: 1n, maxNativeWei: 1n },
  ...{ walletId: randomBytes(16), keyId: randomBytes(16), ownerHash: ownerHashOf(ADA) },
  ...{ to: randomBytes(20), hash: keccak256(CALL), expiresAtMs: NOW_MS + 600_000 },
}

let home: string
let world: World
let phone: P256Signer
let laptop: P256Signer
let bob: P256Signer
beforeEach(async () => {
  home = newHome()
  world = await openWorld(home)
  phone = await world.addKey(ADA)
  laptop = await world.addKey(ADA, phone)
  await world.join(ADA, BOB, 'approver', phone)
  bob = await world.addKey(BOB)
})
afterEach(async () => {
  await world.close()
  removeHome(home)
})

async function approvedBy(...keys: readonly P256Signer[]): Promise<void> {
  const approvals = keys.map((key) => ({ authorizerId: idOf(key), proof: CALL, atMs: NOW_MS }))
  await world.ledger.commit((writer) => {
    writer.putApproval(APPROVAL_ID, {
      ...{ term: encodeApprovalTerm(TERM), userId: ADA, askedAtMs: NOW_MS, needed: 2, approvals },
      ...{ delaySeconds: 0, rule: 'all', spendUsd: '1', payeeLabel: null, askedAgain: null },
      ended: null,
    })
  }).flushed
}

function shownTo(personId: string): [state: string, approvedBy: string] {
  const { ledger, persons } = world
  const envelope = { body: Buffer.from('{"chains":[]}') }
  const registry = { current: { ...LIVE, envelope } }
  const approvals = createApprovals({ ledger, persons, registry } as unknown as ApprovalContext)
  const waiting = approvals.waiting(APPROVAL_ID, personId)
  if (waiting === null) throw new Error('it is not there')
  const facts = { waiting, nowMs: NOW_MS }
  return [stateOf(facts), Object.fromEntries(linesOf(facts))['Approved by'] ?? '']
}

test('two keys of one person are shown as one person, to everybody', async () => {
  await approvedBy(phone, laptop)
  for (const personId of [ADA, BOB]) {
    const [state, names] = shownTo(personId)
    expect(state).toBe('open')
    expect(names).toMatch(/^1 of 2: key \(aut_[0-9a-f]{32}\), key \(aut_[0-9a-f]{32}\)$/)
  }
})

test('what another person approved is shown as approved', async () => {
  await approvedBy(phone)
  expect(shownTo(BOB)).toEqual(['open', expect.stringMatching(/^1 of 2: key/)])
  await approvedBy(phone, bob)
  for (const personId of [ADA, BOB]) {
    expect(shownTo(personId)).toEqual(['approved', expect.stringMatching(/^2 of 2: key/)])
  }
})
