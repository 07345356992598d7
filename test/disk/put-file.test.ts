import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { copyDurably } from '../../src/cli/backup/put-files.js'
import { writePublicFile } from '../../src/custody/domain-keys/private-file.js'
import { writeGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { forkWithFileLimit } from '../support/limited-files.js'

const ROOM_BYTES = 1_024

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-put-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** What a link of another domain's leads to. */
function victim(): string {
  const path = join(home, 'victim')
  writeFileSync(path, 'as it was', { mode: 0o600 })
  return path
}

function untouched(path: string): void {
  expect(readFileSync(path, 'utf8')).toBe('as it was')
  expect(statSync(path).mode & 0o777).toBe(0o600)
}

test('a disk that is full midway leaves the old file whole, and nothing else', async () => {
  const path = join(home, 'registry.json')
  writeFileSync(path, 'the old one')
  const child = forkWithFileLimit('test/disk/fixtures-put-file.mjs', ROOM_BYTES, {}, [
    path,
    String(2 * ROOM_BYTES),
  ])
  if (child.stdout === null) throw new Error('no output')
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(said.trim()).toBe('EFBIG')
  expect(readFileSync(path, 'utf8')).toBe('the old one')
  expect(readdirSync(home)).toEqual(['registry.json'])
})

test('what root puts into the home is not written through a link that waits for it', () => {
  const path = victim()
  const registry = join(home, 'registry.json')
  symlinkSync(path, `${registry}.${process.pid}.new`)
  writePublicFile(registry, Buffer.from('signed'))
  untouched(path)
  expect(readFileSync(registry, 'utf8')).toBe('signed')
  expect(statSync(registry).mode & 0o777).toBe(0o644)
})

test('the service’s own file in the home is not written through one either', () => {
  const path = victim()
  symlinkSync(path, join(home, 'gas-wallets.json.new'))
  writeGasWalletsFile(home, [])
  untouched(path)
  expect(readFileSync(join(home, 'gas-wallets.json'), 'utf8')).toBe('{}\n')
})

test('what a restore puts into the home takes the place of a link', () => {
  const source = join(home, 'backup')
  writeFileSync(source, 'of the backup')
  const outside = join(home, 'not-there-yet')
  const target = join(home, 'screening.json')
  symlinkSync(outside, target)
  copyDurably(source, target)
  expect(existsSync(outside)).toBe(false)
  expect(readFileSync(target, 'utf8')).toBe('of the backup')
})
