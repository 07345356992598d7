import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ArtifactStore,
  createArtifactStore,
} from '../../src/identity-provider/login/artifact-adapter.js'
import { type LoginStore, openLoginStore } from '../../src/identity-provider/login/login-store.js'

let dataDir: string
let store: LoginStore
let artifacts: ArtifactStore

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'countersign-artifacts-'))
  store = openLoginStore(dataDir)
  artifacts = createArtifactStore(store)
})
afterEach(async () => {
  artifacts.close()
  await store.root.close()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('sessions, grants and codes', () => {
  it('are found by id and by uid until they are destroyed', async () => {
    const sessions = artifacts.adapter('Session')
    await sessions.upsert('s1', { uid: 'u1', accountId: 'user_1' }, 60)
    expect(await sessions.find('s1')).toMatchObject({ accountId: 'user_1' })
    expect(await sessions.findByUid('u1')).toMatchObject({ accountId: 'user_1' })
    await sessions.destroy('s1')
    expect(await sessions.find('s1')).toBeUndefined()
    expect(await sessions.findByUid('u1')).toBeUndefined()
  })

  it('of a revoked grant are gone, and only those', async () => {
    const codes = artifacts.adapter('AuthorizationCode')
    await codes.upsert('c1', { grantId: 'g1' }, 60)
    await codes.upsert('c2', { grantId: 'g2' }, 60)
    await codes.revokeByGrantId('g1')
    expect(await codes.find('c1')).toBeUndefined()
    expect(await codes.find('c2')).toBeDefined()
  })

  it('carry the mark of their use', async () => {
    const codes = artifacts.adapter('AuthorizationCode')
    await codes.upsert('c1', { grantId: 'g1' }, 60)
    await codes.consume('c1')
    expect(await codes.find('c1')).toMatchObject({ consumed: expect.any(Number) })
  })

  it('are removed with every index entry once expired', async () => {
    const sessions = artifacts.adapter('Session')
    await sessions.upsert('s1', { uid: 'u1' }, 60)
    await artifacts.adapter('AuthorizationCode').upsert('c1', { grantId: 'g1' }, 60)
    await artifacts.adapter('Grant').upsert('g1', {}, 600)
    expect(await artifacts.sweep(Date.now() + 120_000)).toBe(2)
    expect(store.artifacts.getKeysCount()).toBe(1)
    expect(store.artifactExpiry.getKeysCount()).toBe(1)
    expect(store.sessionIdByUid.getKeysCount()).toBe(0)
    expect(store.grantMembers.getKeysCount()).toBe(0)
  })

  it('never exceed their bound: the first to expire makes room', async () => {
    const interactions = artifacts.adapter('Interaction')
    const writes = []
    for (let i = 0; i < 20_010; i++) {
      writes.push(interactions.upsert(`i${i}`, {}, i < 15 ? 30 : 600))
    }
    await Promise.all(writes)
    expect(store.artifacts.getKeysCount()).toBe(20_000)
    expect(await interactions.find('i20009')).toBeDefined()
    expect(await interactions.find('i0')).toBeUndefined()
  }, 60_000)

  it('are not looked up under ids longer than any that exists', async () => {
    expect(await artifacts.adapter('Session').find('x'.repeat(5_000))).toBeUndefined()
  })
})
