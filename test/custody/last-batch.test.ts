import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { EvidenceLog, EvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { encodeBatchEvidence } from '../../src/custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { encodeHeader } from '../../src/quorum-protocol/batch.js'
import { lastBatchSeq } from '../../src/service-custody/last-batch.js'
import { evidenceLogs } from './evidence-logs.js'

const chain = evidenceLogs()

function batch(log: EvidenceLog, batchSeq: number): Promise<void> {
  const bytes = (length: number) => randomBytes(length)
  const header = encodeHeader({ batchId: bytes(16), batchSeq, count: 1, kid: bytes(8) })
  const signed = { coSignature: bytes(64), approval: bytes(64), quorumBoot: bytes(16) }
  const body = encodeBatchEvidence({ header, intents: [bytes(100)], bitmap: 1, ...signed })
  return log.append({ timeMs: 1, kind: EVIDENCE_KIND.batch, body })
}

const grant = (log: EvidenceLog) =>
  log.append({ timeMs: 1, kind: EVIDENCE_KIND.grant, body: randomBytes(10) })

/** How many entries are looked at. */
function counted(log: EvidenceReader) {
  let entries = 0
  const reader: Pick<EvidenceReader, 'chains' | 'newestFirst'> = {
    chains: () => log.chains(),
    *newestFirst(of) {
      for (const entry of log.newestFirst(of)) {
        entries++
        yield entry
      }
    },
  }
  return { reader, entries: () => entries }
}

test('a start finds the last batch of all chains by the newest entries of each', async () => {
  const [first, second, third, command] = [chain(0), chain(3), chain(4), chain(1_000_123)]
  for (let seq = 1; seq <= 50; seq++) await batch(first, seq)
  for (let seq = 101; seq <= 150; seq++) await batch(second, seq)
  for (let seq = 71; seq <= 90; seq++) await batch(third, seq)
  await grant(second)
  await grant(command)
  const { reader, entries } = counted(first)
  expect([...reader.chains()]).toEqual([1_000_123, 4, 3, 0])
  expect(lastBatchSeq(reader)).toBe(150)
  expect(entries()).toBe(5)
})

test('a log without batches has none', async () => {
  const log = chain(1)
  expect(lastBatchSeq(log)).toBe(0)
  await grant(log)
  expect(lastBatchSeq(log)).toBe(0)
})
