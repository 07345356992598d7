import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'

/** Logs of one domain, in a directory that each test of the file has again. @returns opens a chain */
export function evidenceLogs(): (chain: number) => EvidenceLog {
  let directory: string
  const open: EvidenceLog[] = []
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'countersign-evidence-'))
  })
  afterEach(async () => {
    for (const log of open.splice(0)) await log.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return (chain) => {
    const log = openEvidenceLog(directory, chain, () => {})
    open.push(log)
    return log
  }
}
