import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockMaintenance } from '../../src/custody/home-lock/domain-lock.js'

/** Any user that is not root; where the test is not root itself, its own. */
const OWNER = process.geteuid?.() === 0 ? 65_534 : (process.geteuid?.() ?? 0)

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-lock-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

test('a lock that a command of root’s makes is the domain’s own, whose commands take it later', () => {
  const directory = join(home, 'service')
  mkdirSync(directory, { mode: 0o700 })
  chownSync(directory, OWNER, process.getegid?.() ?? 0)
  lockMaintenance(home, 'service', 'retention').release()
  expect(statSync(join(directory, 'maintenance.lock')).uid).toBe(OWNER)
})
