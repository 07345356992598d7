import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import {
  type BatchEvidence,
  encodeBatchEvidence,
} from '../../src/custody/evidence/evidence-records.js'
import { type ReadEvidence, readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { fenceForward } from '../../src/identity-provider/vault/fence.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import {
  approvalMessage,
  coSignMessage,
  encodeHeader,
  laneStart,
} from '../../src/quorum-protocol/batch.js'
import { intentId } from '../../src/quorum-protocol/intent.js'
import { publicKeyFromRaw } from '../../src/quorum-protocol/p256.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'
import { newKeyId, newWalletId, type ReadyWallet, transfer } from './harness.js'
import { intentFor, strangerKey } from './hostile.js'
import { ALICE } from './policy-cases.js'

/** What a nonce holds after a restore: the last that was approved there, whichever log has it. */
const WALLET: ReadyWallet = {
  walletId: newWalletId(),
  keyId: newKeyId(),
  address: ALICE,
  proofKey: randomBytes(32),
}
const CHAIN_ID = 8453
const approver = strangerKey()
const registry = {
  keysOf: () => [publicKeyFromRaw(approver.publicKey)],
} as unknown as Registry

let home: string
let ledger: LedgerStore
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-fence-order-'))
  ledger = openLedgerStore(join(home, 'ledger'), { length: 0 })
})
afterEach(async () => {
  await ledger.close()
  rmSync(home, { recursive: true, force: true })
})

/** A call at nonce 0, which takes the place of those of lower sequences. */
async function approved(batchSeq: number, value: bigint): Promise<BatchEvidence> {
  const intents = [intentFor(WALLET, transfer(0, { chainId: CHAIN_ID, value }), batchSeq)]
  const header = encodeHeader({ batchId: randomBytes(16), batchSeq, count: 1, kid: randomBytes(8) })
  const quorumBoot = randomBytes(16)
  const message = approvalMessage(coSignMessage(header, intents.map(intentId)), 1, quorumBoot)
  const approval = await approver.sign(message)
  return { header, intents, bitmap: 1, coSignature: randomBytes(64), approval, quorumBoot }
}

async function logOf(name: string, batches: readonly BatchEvidence[]): Promise<ReadEvidence> {
  const log = openEvidenceLog(join(home, name), 0, () => {})
  for (const batch of batches) {
    const body = encodeBatchEvidence(batch)
    await log.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.batch, body })
  }
  const read = readEvidence(name, log.entries())
  await log.close()
  return read
}

function heldAtNonce(): Buffer {
  const held = ledger.decide((writer) => writer.entry(ulidBytes(WALLET.walletId), CHAIN_ID, 0))
  return Buffer.from(held?.intentId ?? '')
}

test.each([
  ['in the service’s log alone, its own being the backup’s', [1], [1, 2]],
  ['in its own log alone, whose answer was lost', [1, 2], [1]],
  ['in its own log after what the service’s alone has', [1, 3], [1, 2]],
])('a nonce holds what was approved there last: %s', async (_where, ownSeqs, serviceSeqs) => {
  const batches = new Map<number, BatchEvidence>()
  for (const seq of [1, 2, 3]) batches.set(seq, await approved(laneStart(1) + seq, BigInt(seq)))
  const of = (seqs: readonly number[]) => seqs.flatMap((seq) => batches.get(seq) ?? [])
  const [own, service] = [await logOf('own', of(ownSeqs)), await logOf('service', of(serviceSeqs))]
  await fenceForward(ledger, [service, own], registry)
  const [last] = of([Math.max(...ownSeqs, ...serviceSeqs)])
  expect(heldAtNonce()).toEqual(intentId(last?.intents[0] ?? Buffer.alloc(0)))
})
