import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { approvalKeyProof, encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import { NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { type ApprovalId, type KeyId, type SubWalletId, ulidBody } from '../../src/domain/ids.js'
import type { AskedApproval } from '../../src/identity-provider/vault/approval-request.js'
import {
  type ApprovalContext,
  createApprovals,
} from '../../src/identity-provider/vault/approvals.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { callTerm } from './approval-terms.js'
import { refusalOf } from './hostile.js'
import { ALICE } from './policy-cases.js'

const USER_ID = 'user_1'
const PROOF_KEY = randomBytes(32)
const PROOF = randomBytes(64)

let home: string
let ledger: LedgerStore
let whole: EvidenceLog
/** It can be written no more, as where the process ends or the disk is full. */
const broken = { append: () => Promise.reject(new Error('no entry was written')) }

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-on-record-'))
  whole = openEvidenceLog(join(home, 'whole'), 0, () => {})
  ledger = openLedgerStore(join(home, 'ledger'), whole)
})
afterAll(async () => {
  await whole.close()
  await ledger.close()
  rmSync(home, { recursive: true, force: true })
})

function asked(): AskedApproval {
  const id = (prefix: string) => `${prefix}_${ulidBody(Date.now(), randomBytes(10))}`
  const term = callTerm(
    {
      ...{ approvalId: id('apr') as ApprovalId, userId: USER_ID, maxNativeWei: 1n },
      ...{ walletId: id('sw') as SubWalletId, keyId: id('key') as KeyId },
      expiresAtMs: Date.now() + 600_000,
    },
    { chainId: 1, to: ALICE, value: 1n, data: '0x' },
  )
  const call = Buffer.alloc(0)
  return {
    ...{ term, encoded: encodeApprovalTerm(term), userId: USER_ID, call, needed: 1 },
    ...{ delaySeconds: 0, rule: 'large', spendUsd: '1.00', payeeLabel: null, askedAgain: null },
    ...{ names: null },
    keyProof: approvalKeyProof(PROOF_KEY, term, call),
  }
}

/** One wallet and key of one user, and a person who confirms whatever there is. */
function approvalsWith(evidence: Pick<EvidenceLog, 'append'>, { term }: AskedApproval) {
  const certificate = { ownerHash: sha256(Buffer.from(USER_ID)) }
  return createApprovals({
    ...{ ledger, evidence },
    persons: createPersons(ledger, { setOf: () => NO_AUTHORIZERS }),
    shares: { get: () => ({ certificate, proofs: {} }) },
    grants: {
      view: () => ({ grant: { walletId: term.walletId } }),
      proofKey: () => PROOF_KEY,
    },
    authorizer: { confirm: async () => ({ proof: PROOF }) },
  } as unknown as ApprovalContext)
}

describe('with evidence that cannot be written', () => {
  test('nobody counts as asked', async () => {
    const request = asked()
    await expect(approvalsWith(broken, request).ask(request)).rejects.toThrow()
    expect(ledger.approvals.approval(request.term.approvalId)).toBeNull()
  })

  test('nobody counts as having approved, who may do so once it can be', async () => {
    const request = asked()
    const { approvalId } = request.term
    const by = { personId: USER_ID, accountId: null, at: 'page' } as const
    const given = () => ledger.approvals.approval(approvalId)?.approvals
    await approvalsWith(whole, request).ask(request)
    await expect(approvalsWith(broken, request).approve(approvalId, null, by)).rejects.toThrow()
    expect(given()).toEqual([])
    const before = whole.length
    await approvalsWith(whole, request).approve(approvalId, null, by)
    expect(given()).toEqual([expect.objectContaining({ proof: PROOF })])
    expect(whole.length).toBe(before + 1)
  })
})

test('who is signed in to another account approves nothing of this one', async () => {
  const request = asked()
  const { approvalId } = request.term
  const approvals = approvalsWith(whole, request)
  await approvals.ask(request)
  const of = (accountId: string) => ({ personId: USER_ID, accountId, at: 'service' }) as const
  expect(await refusalOf(approvals.approve(approvalId, null, of('user_2')))).toBe('NOT_GRANTED')
  expect(ledger.approvals.approval(approvalId)?.approvals).toEqual([])
  await approvals.approve(approvalId, null, of(USER_ID))
  expect(ledger.approvals.approval(approvalId)?.approvals).toHaveLength(1)
})
