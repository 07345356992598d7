import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openShareStore } from '../../src/custody/domain-keys/share-store.js'
import { openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { openKeyStore } from '../../src/custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../../src/custody/key-stores/wrapping-key.js'
import { backUpDomain } from '../../src/custody-tools/maintenance/backup-domain.js'
import { fenceUserSide } from '../../src/custody-tools/maintenance/fence-user-side.js'
import { restoreDomain } from '../../src/custody-tools/maintenance/restore-domain.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { newHome, openWorld, ownerHashOf, removeHome, type World } from './member-world.js'

/**
 * A backup has evidence of its own, so that a user side whose disk was lost has a log once it is
 * restored: one that says nothing of the time after the backup.
 */
const ADA = 'user_ada'
const BOB = 'user_bob'
const CAROL = 'user_carol'

let home: string
let vault: string
let backup: string
let world: World

beforeEach(async () => {
  newHome()
  home = mkdtempSync(join(tmpdir(), 'cs-lost-log-'))
  vault = dirname(userSideLayout(home).ledger)
  backup = join(home, 'backup')
  await provisionDev(home)
  await makeEmptyStores()
  world = await openWorld(vault)
  const ada = await world.addKey(ADA)
  await world.join(ADA, BOB, 'owner', ada)
  await world.join(ADA, CAROL, 'approver', ada)
  await world.close()
  await backUpDomain(home, 'user', backup)
  world = await openWorld(vault)
  await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
  await world.close()
})
afterEach(async () => {
  await world.close()
  removeHome(home)
})

async function makeEmptyStores(): Promise<void> {
  const layout = userSideLayout(home)
  const keys = await readWrappingKeys(
    layout.wrappingKey,
    await openKeyStore(layout.keys, 'allowed'),
  )
  await openShareStore('user', layout, keys).close()
  await openEvidenceLog(serviceLayout(home).evidence, 0, () => {}).close()
}

function restore(): Promise<number> {
  const options = { olderEpochs: 'refuse', wrappingKeyPath: null } as const
  return restoreDomain({ home, domain: 'user', from: backup, ...options })
}

async function fence(): Promise<void> {
  await fenceUserSide(home, [serviceLayout(home).evidence])
  world = await openWorld(vault)
}

function loseLog(): void {
  rmSync(userSideLayout(home).evidence, { recursive: true })
}

const whoMay = () =>
  [ADA, BOB, CAROL].filter((person) => world.persons.may(ownerHashOf(ADA), person, 'approve'))

describe('a user side that is restored from a backup', () => {
  test('has nobody back who was removed since, where its own log outlived', async () => {
    await restore()
    await fence()
    expect(whoMay()).toEqual([ADA, CAROL])
  })

  test('has those alone whom accounts began with, where its log is the backup’s', async () => {
    loseLog()
    await restore()
    await fence()
    expect(whoMay()).toEqual([ADA])
  })

  test('takes a log for whole no more once it was the backup’s, restored again or not', async () => {
    loseLog()
    await restore()
    await restore()
    await fence()
    expect(whoMay()).toEqual([ADA])
  })

  test('forgets nobody again who came after it was fenced, when it is fenced once more', async () => {
    loseLog()
    await restore()
    await fence()
    await world.join(ADA, CAROL, 'approver', await world.addKey(ADA))
    await world.close()
    await fence()
    expect(whoMay()).toEqual([ADA, CAROL])
  })
})
