import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filesOf } from '../../src/cli/backup/parts.js'

/** What writers of this project call the drafts that they rename once they are whole. */
const DRAFTS = [
  'service/gas-wallets.json.281474976710.new',
  'service/lists/sanctions-oracle-10.list.6d0e9bc917ce.new',
  'service/lists/download.0123456789ab.new',
]
const KEPT = 'service/lists/sanctions-oracle-10.list'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-drafts-'))
})
afterEach(() => rmSync(home, { recursive: true }))

test('a backup and the home of another node leave out drafts, which are gone a moment later', () => {
  for (const path of [...DRAFTS, KEPT]) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), '')
  }
  expect(filesOf(home, 'service').map(({ path }) => path)).toEqual([KEPT])
})
