import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { AuditRecord, NewAuditRecord } from '../../src/domain/audit.js'
import type { KeyId, UserId } from '../../src/domain/ids.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { AuditLog } from '../../src/store/audit-log.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader } from '../../src/store/reader.js'

const userId = 'user-1' as UserId
let directory: string
let environment: Environment
let nowMs = 0

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-audit-'))
  environment = openEnvironment(directory)
  nowMs = 1_000_000
})

afterEach(async () => {
  await environment.root.close()
  rmSync(directory, { recursive: true, force: true })
})

function auditLog(): AuditLog {
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  const log = { error: (context: object) => expect.fail(JSON.stringify(context)) }
  return new AuditLog({
    commits: localCommits(environment, sequence),
    timers: systemTimers(() => nowMs),
    log,
  })
}

function refusal(code: string, keyId = 'key_1'): NewAuditRecord {
  return auditEntry({
    userId,
    keyId: keyId as KeyId,
    atMs: nowMs,
    type: 'send.refused',
    details: { code },
  })
}

function trail(): readonly AuditRecord[] {
  const reader = createReader(environment)
  reader.fresh()
  return reader.audit.ofUser(userId, { limit: 1_000, cursor: null }, () => true).items
}

test('refusals that repeat are written once and counted once', async () => {
  const log = auditLog()
  for (let i = 0; i < 500; i++) log.note(refusal('LIMIT_EXCEEDED'))
  await log.close()
  const details = trail().map((record) => record.details)
  expect(details).toHaveLength(2)
  expect(details).toEqual(
    expect.arrayContaining([{ code: 'LIMIT_EXCEEDED' }, { code: 'LIMIT_EXCEEDED', repeated: 499 }]),
  )
})

test('a refusal after the minute, of another kind or another key is an entry of its own', async () => {
  const log = auditLog()
  log.note(refusal('LIMIT_EXCEEDED'))
  log.note(refusal('INSUFFICIENT_FUNDS'))
  log.note(refusal('LIMIT_EXCEEDED', 'key_2'))
  nowMs += 60_000
  log.note(refusal('LIMIT_EXCEEDED'))
  await log.close()
  expect(trail()).toHaveLength(4)
})

test('each verdict of the screening is kept', async () => {
  const log = auditLog()
  for (let i = 0; i < 20; i++) log.note(refusal('ADDRESS_BLOCKED'))
  await log.close()
  expect(trail()).toHaveLength(20)
})
