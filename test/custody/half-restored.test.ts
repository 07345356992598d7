import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import {
  pendingBackupRestorePath,
  pendingRestorePath,
} from '../../src/custody/domain-keys/pending-restore.js'
import { writePrivateFile, writePublicFile } from '../../src/custody/domain-keys/private-file.js'
import { backUpDomain } from '../../src/custody-tools/maintenance/backup-domain.js'
import { openLmdb } from '../../src/disk/lmdb-file.js'

let home: string
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-half-'))
  const { shares, rootKey } = userSideLayout(home)
  mkdirSync(dirname(shares), { recursive: true })
  await openLmdb({ path: shares, maxDbs: 4 }).close()
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writePublicFile(rootKey, Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

test.each([
  ['its custody', pendingRestorePath],
  ['all of it', pendingBackupRestorePath],
])(
  'a domain while %s is half restored is in no backup, which would mix two times',
  async (_what, noteOf) => {
    writePrivateFile(noteOf(userSideLayout(home)), Buffer.from('{}'))
    const to = join(home, 'backup')
    await expect(backUpDomain(home, 'user', to)).rejects.toThrow(/interrupted/)
    expect(existsSync(to)).toBe(false)
    rmSync(noteOf(userSideLayout(home)))
    await backUpDomain(home, 'user', to)
    expect(existsSync(join(to, 'backup.json'))).toBe(true)
  },
)
