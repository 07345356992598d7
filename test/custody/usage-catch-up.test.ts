import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { encodeBatchEvidence } from '../../src/custody/evidence/evidence-records.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { catchUp } from '../../src/identity-provider/vault/catch-up.js'
import { putApproved } from '../../src/identity-provider/vault/fence.js'
import { replayUsage } from '../../src/identity-provider/vault/fence-usage.js'
import { countApproved } from '../../src/identity-provider/vault/judge-policy.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { countedWithin, unitsUsed } from '../../src/policy/policy-ledger.js'
import { encodeHeader, laneStart } from '../../src/quorum-protocol/batch.js'
import { u32, u64 } from '../../src/quorum-protocol/bytes.js'
import { decodeIntent, intentId } from '../../src/quorum-protocol/intent.js'
import { decodePayload } from '../../src/quorum-protocol/payload.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { policyOf } from '../policy/random-policies.js'
import {
  newKeyId,
  newWalletId,
  type ReadyWallet,
  ROUTER,
  routerIntent,
  transfer,
} from './harness.js'
import { intentFor } from './hostile.js'
import { ALICE, pays, USDC } from './policy-cases.js'

/** What a start makes of what was counted, wherever the run before it ended. */
const PER_SECONDS = 3_600
const POLICY = policyOf({
  default: 'allow',
  rules: [{ name: 'few', effect: 'deny', when: { count: { per_seconds: PER_SECONDS, gt: 9 } } }],
  ceilings: [{ chain_id: 8453, token: USDC, per: 'month', amount: '1000' }],
})
const WALLET: ReadyWallet = {
  walletId: newWalletId(),
  keyId: newKeyId(),
  address: ALICE,
  proofKey: randomBytes(32),
}
const GRANT_ID = Buffer.from(ulidBytes(WALLET.keyId))

let home: string
let evidence: EvidenceLog
let ledger: LedgerStore

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-usage-'))
  open()
  await ledger.commit((writer) => {
    writer.putGrant(GRANT_ID, {
      ...grantedOf({ ...INITIAL_POLICY, permission: 'trade', policy: POLICY }),
      ...{ walletId: ulidBytes(WALLET.walletId), userId: 'usr_1', version: 1 },
      ...{ parentId: null, liveKeys: [GRANT_ID] },
    })
    writer.putKey(GRANT_ID, {
      ...{ grantId: GRANT_ID, sealedProofKey: null, expiresAtMs: null, revoked: false },
      ceiling: null,
    })
  }).flushed
})
afterEach(async () => {
  await ledger.close()
  await evidence.close()
  rmSync(home, { recursive: true, force: true })
})

function open() {
  evidence = openEvidenceLog(join(home, 'evidence'), 0, () => {})
  ledger = openLedgerStore(join(home, 'ledger'), evidence)
}

async function startAgain() {
  await ledger.close()
  await evidence.close()
  open()
  await catchUp(ledger, evidence, 'evidence', Date.now())
}

type Payment = ReturnType<typeof transfer>

function payment(nonce: number, change: Partial<Payment> = {}): Payment {
  const data = pays(ALICE, 100n)
  return transfer(nonce, { to: USDC, value: 0n, data, gasLimit: 100_000n, ...change })
}

/** The Router's nonces are in no ledger, which would tell that it was there before. */
function swap(): SignPayload {
  const intent = { ...routerIntent(ALICE), tokenIn: USDC, amountIn: 100n }
  return { type: 'router-intent', chainId: 8453, verifyingContract: ROUTER, intent }
}

function approved(
  payload: SignPayload,
  batchSeq: number,
  change: Parameters<typeof intentFor>[3] = {},
) {
  const encoded = intentFor(WALLET, payload, batchSeq, change)
  const header = encodeHeader({ batchId: randomBytes(16), batchSeq, count: 1, kid: randomBytes(8) })
  const [coSignature, approval, quorumBoot] = [64, 64, 16].map((size) => randomBytes(size))
  const empty = Buffer.alloc(0)
  return {
    ...{ header, intents: [encoded], bitmap: 1 },
    ...{ coSignature: coSignature ?? empty, approval: approval ?? empty },
    quorumBoot: quorumBoot ?? empty,
  }
}

type Batch = ReturnType<typeof approved>

function decide(batch: Batch) {
  const [encoded] = batch.intents
  if (encoded === undefined) throw new Error('no intent')
  const intent = decodeIntent(encoded)
  const payload = decodePayload(intent.type, intent.payload)
  const after = countApproved([POLICY], payload, ledger.usage(GRANT_ID), Date.now())
  if (after === null) throw new Error('nothing is counted')
  return ledger.commit((writer) => {
    putApproved(batch, batch.intents.map(intentId), writer, Date.now())
    writer.putUsage(GRANT_ID, after)
    writer.awaitRecord(intent.seq)
  }).flushed
}

function record(batch: Batch, timeMs = Date.now()) {
  return evidence.append({ timeMs, kind: EVIDENCE_KIND.batch, body: encodeBatchEvidence(batch) })
}

function counted() {
  const usage = ledger.usage(GRANT_ID)
  const [ceiling] = POLICY.ceilings
  return {
    calls: countedWithin(usage, PER_SECONDS, Date.now()).count,
    units: ceiling === undefined ? null : unitsUsed(usage, ceiling, Date.now()),
  }
}

const seqAt = (count: number) => laneStart(1) + count

test('what its evidence alone has is counted at the next start, and once', async () => {
  await record(approved(payment(0), seqAt(1)))
  await record(approved(swap(), seqAt(2)))
  expect(counted()).toEqual({ calls: 0, units: 0n })
  await startAgain()
  expect(counted()).toEqual({ calls: 2, units: 200n })
  await startAgain()
  expect(counted()).toEqual({ calls: 2, units: 200n })
})

test.each([
  ['a transaction', payment(0)],
  ['a Router intent', swap()],
])('what its ledger had before its evidence is not counted again: %s', async (_, payload) => {
  const batch = approved(payload, seqAt(1))
  await decide(batch)
  await record(batch)
  await record(approved(payment(1), seqAt(2)))
  await startAgain()
  expect(counted()).toEqual({ calls: 2, units: 200n })
})

test('what was decided and never recorded stays counted', async () => {
  await decide(approved(payment(0), seqAt(1)))
  await startAgain()
  expect(counted()).toEqual({ calls: 1, units: 100n })
})

test('the same call with higher fees is none more', async () => {
  const dearer = payment(0, { maxFeePerGas: 9_000_000_000n })
  await record(approved(payment(0), seqAt(1)))
  await record(approved(dearer, seqAt(2)))
  await startAgain()
  expect(counted()).toEqual({ calls: 1, units: 100n })
})

test('a restored ledger counts again from both logs, each call once', async () => {
  const [first, second] = [approved(payment(0), seqAt(1)), approved(payment(1), seqAt(2))]
  // The backup had the first.
  await decide(first)
  const monthAgo = Date.now() - 40 * 86_400_000
  await record(approved(payment(7), seqAt(3)), monthAgo)
  for (const batch of [
    first,
    second,
    approved(payment(1, { maxFeePerGas: 9_000_000_000n }), seqAt(4)),
  ]) {
    await record(batch)
  }
  const log = readEvidence('log', evidence.entries())
  await replayUsage(ledger, [log, log], Date.now())
  expect(counted()).toEqual({ calls: 2, units: 200n })
})

test('an approval that its evidence alone has is used up at the next start, by its own call alone', async () => {
  const [approvalId, other] = [randomBytes(16), randomBytes(16)]
  const expiresAtMs = Date.now() + 600_000
  const approval = { approvalId, expiresAtMs, maxNativeWei: 7n }
  await record(approved(payment(3), seqAt(1), { approval, proofKey: null }))
  const bump = { approval: { ...approval, approvalId: other }, proofKey: null }
  await record(approved(payment(3, { maxFeePerGas: 9_000_000_000n }), seqAt(2), bump))
  await startAgain()
  const place = Buffer.concat([u32(8453), u64(3)])
  expect(ledger.approvals.approvalUse(approvalId)).toEqual(place)
  // What replaces a call names no other approval; had it been let, it would bind none.
  expect(ledger.approvals.approvalUse(other)).toBeNull()
  ledger.decide((writer) => {
    const held = writer.entry(ulidBytes(WALLET.walletId), 8453, 3)?.approval
    expect(held).toMatchObject({ approvalId, maxNativeWei: 7n })
  })
  expect(counted().calls).toBe(1)
})
