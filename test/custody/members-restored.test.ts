import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { encodeMemberStatement } from '../../src/custody/members/member-statement.js'
import { createRecordedAuthorizers } from '../../src/identity-provider/authorizers/recorded-authorizers.js'
import { replayAuthority } from '../../src/identity-provider/vault/fence-authority.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import { type P256Signer, publicKeyFromRaw } from '../../src/quorum-protocol/p256.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'
import { refusalOf } from './hostile.js'
import {
  copyStores,
  LIVE,
  newHome,
  openWorld,
  ownerHashOf,
  proofOver,
  removeHome,
  type World,
} from './member-world.js'

const ADA = 'user_ada'
const BOB = 'user_bob'
const REMOVE = { action: 'remove', accountId: ADA, personId: BOB, role: 'owner' } as const

let home: string
let backup: string
let world: World
let ada: P256Signer

beforeEach(async () => {
  home = newHome()
  backup = newHome()
  world = await openWorld(home)
  ada = await world.addKey(ADA)
})
afterEach(async () => {
  await world.close()
  removeHome(home)
  removeHome(backup)
})

const mayBob = () => world.persons.may(ownerHashOf(ADA), BOB, 'enlarge')

async function backedUp(): Promise<void> {
  await world.close()
  copyStores(home, backup, ['ledger', 'evidence'])
  world = await openWorld(home)
}

/** The ledger of the backup. @param log whether the log of now outlived it */
async function restored(log: 'own log' | 'no log') {
  const evidenceOfNow = readEvidence('own', world.log.entries())
  const own = log === 'own log' ? { evidence: evidenceOfNow, isWhole: true } : null
  const none = readEvidence('service', [])
  const approver = publicKeyFromRaw(world.signer.publicKey)
  const registry = { ...LIVE, keysOf: () => [approver] } as unknown as Registry
  await world.close()
  world = await openWorld(backup)
  const { ledger, store, log: evidence } = world
  const changes = createRecordedChanges(ledger, evidence)
  const recorded = createRecordedAuthorizers(store, evidence)
  const stores = { ledger, authorizers: store, recorded, changes }
  return replayAuthority(stores, own, none, registry)
}

describe('a change of members that a process ended in the midst of', () => {
  test('holds from the next start on, and is on record there with its proof', async () => {
    await world.close()
    world = await openWorld(home, () => Promise.reject(new Error('no entry was written')))
    const invite = { action: 'invite', accountId: ADA, personId: BOB, role: 'owner' } as const
    await expect(world.change(invite, ada)).rejects.toThrow('no entry was written')
    expect(world.memberEvidence()).toEqual([])
    await world.close()
    world = await openWorld(home)
    expect(world.members.setOf(ADA).members.map(({ personId }) => personId)).toEqual([ADA, BOB])
    expect(world.memberEvidence().map(({ proof }) => proof.length > 0)).toEqual([true])
  })
})

describe('a restored user side', () => {
  test('learns again who was removed since its backup', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await backedUp()
    await world.change(REMOVE, null)
    const { members } = await restored('own log')
    expect(members).toBe(1)
    expect(mayBob()).toBe(false)
  })

  test('learns again who came since, by the proofs there are', async () => {
    await backedUp()
    await world.join(ADA, BOB, 'owner', ada)
    await restored('own log')
    expect(mayBob()).toBe(true)
  })

  test('lets nobody in by the word of a log without the proof', async () => {
    await backedUp()
    const said = world.statement({ action: 'invite', accountId: ADA, personId: BOB, role: 'owner' })
    const proof = await proofOver({ ...said, role: 'viewer' }, ada)
    const invite = { statement: said, proof }
    const own = readEvidence('own', world.log.entries())
    const value = { ...invite, encoded: encodeMemberStatement(said) }
    const forged = { ...own, members: [{ index: 9, timeMs: Date.now(), value }] }
    const { ledger, store, log } = world
    const changes = createRecordedChanges(ledger, log)
    const recorded = createRecordedAuthorizers(store, log)
    const stores = { ledger, authorizers: store, recorded, changes }
    const none = readEvidence('service', [])
    const outlived = { evidence: forged, isWhole: true }
    expect(await replayAuthority(stores, outlived, none, LIVE)).toMatchObject({ members: 0 })
    expect(world.members.setOf(ADA).members.map(({ personId }) => personId)).toEqual([ADA])
  })

  test('that does not know who was removed has those alone whom accounts began with', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await backedUp()
    const { sequence } = world.members.setOf(ADA)
    await world.change(REMOVE, null)
    const said = world.statement({ action: 'invite', accountId: ADA, personId: BOB, role: 'owner' })
    const proof = await proofOver(said, ada)
    await world.members.change(said, proof)
    await world.change(REMOVE, null)
    await restored('no log')
    expect(mayBob()).toBe(false)
    expect(world.persons.may(ownerHashOf(ADA), ADA, 'enlarge')).toBe(true)
    // Nor is a proof good again that was used in the time which is forgotten.
    expect(world.members.setOf(ADA).sequence).toBeGreaterThan(sequence + 3)
    expect(await refusalOf(world.members.change(said, proof))).toBe('STALE_GRANT')
  })
})
