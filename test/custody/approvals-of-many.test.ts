import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type ApprovalTerm,
  approvalKeyProof,
  encodeApprovalTerm,
} from '../../src/custody/approvals/approval-term.js'
import { ID_PREFIX, ulidBody, ulidBytes } from '../../src/domain/ids.js'
import { keccak256 } from '../../src/domain/keccak.js'
import {
  type ApprovalContext,
  createApprovals,
  OPEN_PER_USER_MAX,
  type UserSideApprovals,
} from '../../src/identity-provider/vault/approvals.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'

/** Users who have as many calls wait as they may, together beyond what there is room for. */

const PROOF_KEY = randomBytes(32)
const WALLET = randomBytes(16)
const KEY = randomBytes(16)
const CALL = Buffer.from('00', 'hex')

let home: string
let ledger: LedgerStore
/** Whose wallet and key it is that asks. */
let owner = ''
let approvals: UserSideApprovals

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-approvals-'))
  ledger = openLedgerStore(home, { length: 0 })
  approvals = createApprovals({
    ledger,
    shares: { get: () => ({ proofs: {}, certificate: { ownerHash: hashOf(owner) } }) },
    grants: { view: () => ({ grant: { walletId: WALLET } }), proofKey: () => PROOF_KEY },
    evidence: { append: async () => {} },
  } as unknown as ApprovalContext)
})
afterEach(async () => {
  await ledger.close()
  rmSync(home, { recursive: true, force: true })
})

const hashOf = (userId: string) => sha256(Buffer.from(userId))

function newApprovalId(): Uint8Array {
  return ulidBytes(`${ID_PREFIX.approval}${ulidBody(Date.now(), randomBytes(10))}`)
}

function termOf(userId: string): ApprovalTerm {
  return {
    ...{ kind: 'transaction', approvalId: newApprovalId(), walletId: WALLET, keyId: KEY },
    ...{ ownerHash: hashOf(userId), chainId: 1, to: randomBytes(20), value: 1n },
    ...{ hash: keccak256(CALL), maxNativeWei: 1n, expiresAtMs: Date.now() + 600_000 },
  }
}

const WORDS = { needed: 1, delaySeconds: 0, rule: 'all', spendUsd: '1' }
const NO_WORDS = { payeeLabel: null, askedAgain: null, names: null }

async function ask(userId: string): Promise<void> {
  owner = userId
  const term = termOf(userId)
  const keyProof = approvalKeyProof(PROOF_KEY, term, CALL)
  const encoded = encodeApprovalTerm(term)
  await approvals.ask({ term, encoded, userId, call: CALL, keyProof, ...WORDS, ...NO_WORDS })
}

/** As `ask` leaves it, all at once. */
async function haveWaiting(userId: string, count: number): Promise<void> {
  await ledger.commit((writer) => {
    for (let n = 0; n < count; n++) {
      const term = termOf(userId)
      writer.putApproval(term.approvalId, {
        ...{ term: encodeApprovalTerm(term), userId, askedAtMs: Date.now(), ...WORDS },
        ...{ ...NO_WORDS, approvals: [], ended: null },
      })
    }
  }).flushed
}

test('users who have much waiting keep none who has little from asking', async () => {
  const greedy = Array.from({ length: 5 }, (_, n) => `usr_greedy_${n}`)
  for (const userId of greedy) await haveWaiting(userId, OPEN_PER_USER_MAX - 1)
  await ask('usr_other')
  expect(ledger.approvals.openApprovals('usr_other', Date.now()).ofUser).toBe(1)
  for (const userId of greedy) {
    await expect(ask(userId)).rejects.toMatchObject({ code: 'OVERLOADED' })
  }
})

test('a user has no more waiting than one may, however much room there is', async () => {
  await haveWaiting('usr_1', OPEN_PER_USER_MAX - 1)
  await ask('usr_1')
  await expect(ask('usr_1')).rejects.toMatchObject({ code: 'OVERLOADED' })
  await ask('usr_2')
})
