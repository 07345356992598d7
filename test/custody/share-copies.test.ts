import { randomBytes } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDataKeys } from '../../src/custody/domain-keys/data-keys.js'
import { openShareCopies } from '../../src/custody/domain-keys/share-copies.js'
import { openLmdb } from '../../src/disk/lmdb-file.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-shares-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const WALLET = randomBytes(16)
const WRAPPING_KEY = randomBytes(32)
const CONTEXT = Buffer.from('what it was sealed for')
const layoutOf = (shares: string, sharesCopy: string) => ({
  shares: join(directory, shares),
  sharesCopy: join(directory, sharesCopy),
})

/** As a domain starts on them: it makes a data key where there is none. */
function open(layout = layoutOf('shares', 'copy')) {
  const copies = openShareCopies(layout)
  const keys = openDataKeys('service', [Buffer.from(WRAPPING_KEY)], copies.dataKeys)
  return { copies, keys }
}

/** Stores a share in both copies. @returns what opens it again */
async function stored(): Promise<Buffer> {
  const { copies, keys } = open()
  const share = randomBytes(32)
  const record = {
    ...{ certificate: Buffer.from('certificate'), proofs: null },
    share: keys.seal(share, CONTEXT),
  }
  copies.put(WALLET, record, null)
  await copies.close()
  return share
}

async function expectOpens(layout: ReturnType<typeof layoutOf>, share: Buffer): Promise<void> {
  const { copies, keys } = open(layout)
  const record = copies.get(WALLET)
  expect(record === undefined ? null : keys.open(record.share, CONTEXT)).toEqual(share)
  await copies.close()
}

describe('two copies of shares', () => {
  test.each(['shares', 'copy'])(
    'are two again after the first start since %s was lost',
    async (lost) => {
      const share = await stored()
      rmSync(join(directory, lost), { recursive: true })
      await expectOpens(layoutOf('shares', 'copy'), share)
      // Each alone is enough, wherever it is.
      for (const left of ['shares', 'copy']) {
        renameSync(join(directory, left), join(directory, `${left}-alone`))
        await expectOpens(layoutOf(`${left}-alone`, `${left}-new`), share)
      }
    },
  )

  test('both have the data key after a first start that ended between the two', async () => {
    await open().copies.close()
    const path = join(directory, 'copy')
    const second = openLmdb({ path, overlappingSync: false, maxDbs: 8 })
    await second.openDB({ name: '02-data-keys', encoding: 'binary' }).clearAsync()
    await second.close()
    const share = await stored()
    await expectOpens(layoutOf('copy', 'new'), share)
  })
})
