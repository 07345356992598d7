import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { encodeBatchEvidence } from '../../src/custody/evidence/evidence-records.js'
import { findApproval } from '../../src/custody/evidence/find-approvals.js'
import { EVIDENCE_HASH_BYTES, EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { encodeHeader } from '../../src/quorum-protocol/batch.js'
import { encodeIntent, intentId, PAYLOAD_TYPE } from '../../src/quorum-protocol/intent.js'
import { evidenceLogs } from './evidence-logs.js'

const START_MS = Date.UTC(2026, 0, 1)
const SECOND_MS = 1_000
const WALLET = randomBytes(16)
const OTHER = randomBytes(16)

const chain = evidenceLogs()

function intent(walletId: Uint8Array, requestId: Uint8Array = randomBytes(16)): Buffer {
  const fields = { walletId, keyId: randomBytes(16), grantId: randomBytes(16), grantVersion: 1 }
  const of = { type: PAYLOAD_TYPE.feeMarketTransaction, epoch: 1, seq: 1, expiresAtMs: START_MS }
  const rest = { requestId, replaces: Buffer.alloc(32), approval: null, payload: randomBytes(40) }
  return encodeIntent({ ...fields, ...of, ...rest }, null)
}

/** @returns the approval's signature */
async function record(
  log: EvidenceLog,
  timeMs: number,
  intents: readonly Buffer[],
  bitmap = 2 ** intents.length - 1,
): Promise<Buffer> {
  const count = intents.length
  const header = encodeHeader({ batchId: randomBytes(16), batchSeq: 1, count, kid: randomBytes(8) })
  const approval = randomBytes(64)
  const signed = { coSignature: randomBytes(64), approval, quorumBoot: randomBytes(16) }
  const body = encodeBatchEvidence({ header, intents, bitmap, ...signed })
  await log.append({ timeMs, kind: EVIDENCE_KIND.batch, body })
  return approval
}

function sought(encoded: Uint8Array, untilMs: number, walletId: Uint8Array = WALLET) {
  const id = intentId(encoded)
  const isIt = (found: Uint8Array) => Buffer.compare(found, id) === 0
  return { walletId, sinceMs: untilMs - 30 * SECOND_MS, untilMs, isIt }
}

describe('an approval on record', () => {
  test('is found by its moment among thousands of others, with its place and its hash', async () => {
    const log = chain(3)
    const wanted = intent(WALLET)
    const written: Promise<Buffer>[] = []
    for (let n = 0; n < 2_000; n++) {
      const own = n === 700 ? [intent(OTHER), wanted] : [intent(OTHER)]
      written.push(record(log, START_MS + n * SECOND_MS, own))
    }
    const approvals = await Promise.all(written)
    const atMs = START_MS + 700 * SECOND_MS
    const found = findApproval(log, sought(wanted, atMs + 5))
    expect(found).toMatchObject({ chain: 3, index: 700, recordedAtMs: atMs })
    expect(found?.signature).toEqual(approvals[700])
    expect(found?.hash).toEqual(
      Buffer.from(log.at(3, 700)?.bytes.subarray(0, EVIDENCE_HASH_BYTES) ?? []),
    )
    expect(findApproval(log, sought(wanted, START_MS + 1_999 * SECOND_MS))).toBeNull()
  })

  test('is found in whichever chain has it, and by the id of its request', async () => {
    const [first, second] = [chain(1), chain(2)]
    const requestId = randomBytes(16)
    await record(first, START_MS, [intent(WALLET)])
    await record(second, START_MS, [intent(WALLET), intent(WALLET, requestId)])
    const isIt = (_: Uint8Array, of: Uint8Array) => Buffer.compare(of, requestId) === 0
    const found = findApproval(first, { walletId: WALLET, sinceMs: 0, untilMs: START_MS, isIt })
    expect(found).toMatchObject({ chain: 2, index: 0 })
    const within = { walletId: WALLET, sinceMs: 0, untilMs: START_MS, isIt }
    expect(findApproval(first, { ...within, chain: 2 })).not.toBeNull()
    expect(findApproval(first, { ...within, chain: 1 })).toBeNull()
  })

  test('is none where the identity provider did not approve that intent of the batch', async () => {
    const log = chain(1)
    const [one, other] = [intent(WALLET), intent(WALLET)]
    await record(log, START_MS, [one, other], 0b10)
    expect(findApproval(log, sought(one, START_MS))).toBeNull()
    expect(findApproval(log, sought(other, START_MS))).not.toBeNull()
  })

  test('is none of a moment after the signature, of another wallet, or of an empty log', async () => {
    const log = chain(1)
    const wanted = intent(WALLET)
    expect(findApproval(log, sought(wanted, START_MS))).toBeNull()
    await record(log, START_MS, [wanted])
    expect(findApproval(log, sought(wanted, START_MS - 1))).toBeNull()
    expect(findApproval(log, sought(wanted, START_MS, OTHER))).toBeNull()
    await log.append({ timeMs: START_MS, kind: EVIDENCE_KIND.grant, body: WALLET })
    expect(findApproval(log, sought(wanted, START_MS))).not.toBeNull()
  })
})
