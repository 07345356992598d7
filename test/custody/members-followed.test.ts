import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AuthorizerStore,
  openAuthorizerStore,
} from '../../src/custody/authorizers/authorizer-store.js'
import { encodeEntry } from '../../src/custody/authorizers/certificate.js'
import { syncAuthorizers } from '../../src/custody/authorizers/service-authorizers.js'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { roleIn } from '../../src/custody/members/member-set.js'
import {
  openServiceMembers,
  type ServiceMembers,
} from '../../src/custody/members/service-members.js'
import { verifyAuthority } from '../../src/custody-tools/audit/verify-authority.js'
import type { Role } from '../../src/domain/role.js'
import { membersChanged, membersOf } from '../../src/identity-provider/vault/member-answers.js'
import { expectBytes, expectInteger } from '../../src/quorum-protocol/bytes.js'
import type { SocketClient } from '../../src/quorum-protocol/client.js'
import { MEMBERS } from '../../src/quorum-protocol/methods/members.js'
import { type P256Signer, publicKeyFromRaw } from '../../src/quorum-protocol/p256.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'
import type { RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { createRemoteMembers, type RemoteMembers } from '../../src/service-custody/members.js'
import {
  idOf,
  LIVE,
  newHome,
  openWorld,
  ownerHashOf,
  removeHome,
  type World,
} from './member-world.js'

/** What the service knows of members, by the user side's answers and its own judgement of them. */

const [ADA, BOB, EVE] = ['user_ada', 'user_bob', 'user_eve']

let home: string
let world: World
let ada: P256Signer
let service: Service
/** What the user side says instead of what it has; null: the truth. */
let lie: ((method: string, answer: unknown) => unknown) | null

interface Service {
  readonly book: ServiceMembers
  readonly store: AuthorizerStore
  readonly evidence: EvidenceLog
  readonly members: RemoteMembers
}

beforeEach(async () => {
  home = newHome()
  lie = null
  world = await openWorld(home)
  ada = await world.addKey(ADA)
  service = openService()
})
afterEach(async () => {
  await closeService()
  await world.close()
  removeHome(home)
})

const registryOf = (approver: P256Signer) =>
  ({ ...LIVE, keysOf: () => [publicKeyFromRaw(approver.publicKey)] }) as unknown as Registry

async function answer(method: string, parameters: readonly unknown[]): Promise<unknown> {
  if (method === 'members-changed') {
    const { parameters: asked, result } = MEMBERS[method]
    return result.encode(membersChanged(asked.decode(parameters), world.ledger))
  }
  if (method === 'members-get') {
    const { parameters: asked, result } = MEMBERS[method]
    return result.encode(await membersOf(asked.decode(parameters), world.ledger))
  }
  const [ownerHash, after] = parameters
  return world.store
    .entriesAfter(expectBytes(ownerHash), expectInteger(after))
    .map((entry) => encodeEntry(entry))
}

function openService(): Service {
  const book = openServiceMembers(join(home, 'service'))
  const store = openAuthorizerStore(join(home, 'service'))
  const evidence = openEvidenceLog(join(home, 'service-log'), 0, () => {})
  const registry = { current: registryOf(world.signer) } as unknown as RegistryHolder
  const userSide: SocketClient = {
    connected: true,
    answering: true,
    call: async (method, parameters) => {
      const said = await answer(method, parameters)
      return lie === null ? said : lie(method, said)
    },
    reset() {},
    close() {},
  }
  const known = (personId: string) =>
    syncAuthorizers(ownerHashOf(personId), { userSide, store, registry, evidence })
  const context = { userSide, book, store, registry, evidence, known }
  return { book, store, evidence, members: createRemoteMembers(context) }
}

async function closeService(): Promise<void> {
  await service.book.close()
  await service.store.close()
  await service.evidence.close()
}

function roleOf(personId: string, accountId = ADA): Role | null {
  const set = service.book.members(ownerHashOf(accountId))
  return set === null ? null : roleIn(set, personId)
}

describe('the service', () => {
  test('takes a removal, whatever it cannot follow of another account', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await service.members.follow()
    expect(roleOf(BOB)).toBe('owner')
    const eve = await world.addKey(EVE)
    await world.change({ action: 'invite', accountId: EVE, personId: 'user_dan' }, eve)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    lie = (method, said) =>
      method === 'members-get' && JSON.stringify(said).includes('user_dan') ? 'nothing' : said
    await expect(service.members.follow()).rejects.toThrow('MALFORMED')
    expect(roleOf(BOB)).toBeNull()
    await service.members.follow(ADA)
    await expect(service.members.follow(EVE)).rejects.toThrow('MALFORMED')
    lie = null
    await service.members.follow()
    expect(service.book.members(ownerHashOf(EVE))?.members).toHaveLength(2)
  })

  test('knows nothing of accounts to which nobody was invited', async () => {
    await service.members.follow()
    expect(service.book.members(ownerHashOf(ADA))).toBeNull()
    expect(service.members.approversBy(ADA, idOf(ada))).toBeNull()
  })

  test('follows who came, as what, and who left', async () => {
    await world.join(ADA, BOB, 'approver', ada)
    await service.members.follow()
    expect([roleOf(ADA), roleOf(BOB), roleOf(EVE)]).toEqual(['owner', 'approver', null])
    expect(service.book.accountsOf(BOB).map(({ accountId }) => accountId)).toEqual([ADA])
    await world.change({ action: 'change', accountId: ADA, personId: BOB, role: 'viewer' }, null)
    await service.members.follow()
    expect(roleOf(BOB)).toBe('viewer')
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'viewer' }, null)
    await service.members.follow()
    expect(roleOf(BOB)).toBeNull()
    expect(service.book.accountsOf(BOB)).toEqual([])
  })

  test('remembers it over a start of either side, and learns what changed meanwhile', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await service.members.follow()
    await closeService()
    await world.close()
    world = await openWorld(home)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    service = openService()
    expect(roleOf(BOB)).toBe('owner')
    await service.members.follow()
    expect(roleOf(BOB)).toBeNull()
  })

  test('counts as people who may approve those who are members then', async () => {
    await world.join(ADA, BOB, 'approver', ada)
    await world.join(ADA, EVE, 'operator', ada)
    const [bob, eve] = [await world.addKey(BOB), await world.addKey(EVE)]
    await service.members.follow()
    await service.members.authorizersOf(ADA, 'approve')
    expect(service.members.approversBy(ADA, idOf(ada))).toEqual([ADA])
    expect(service.members.approversBy(ADA, idOf(bob))).toEqual([BOB])
    expect(service.members.approversBy(ADA, idOf(eve))).toEqual([])
    const idsOf = async (power: 'approve' | 'enlarge') =>
      (await service.members.authorizersOf(ADA, power)).map(({ id }) => Buffer.from(id))
    expect(await idsOf('approve')).toEqual([idOf(ada), idOf(bob)])
    expect(await idsOf('enlarge')).toEqual([idOf(ada)])
  })

  test('has on record what it took, and the audit finds it in both logs', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await service.members.follow()
    const own = readEvidence('service log', service.evidence.entries())
    expect(own.members.map(({ value }) => value.statement.action)).toEqual(['invite', 'accept'])
    const registry = registryOf(world.signer)
    const user = readEvidence('user', world.log.entries())
    expect((await verifyAuthority([own], user, registry)).problems).toEqual([])
    const without = { ...user, members: [] }
    expect((await verifyAuthority([own], without, registry)).problems).toContain(
      "service log: member in entry 1 is not in the identity provider's log",
    )
  })
})

describe('a user side that was broken into', () => {
  /** The proofs that it would need are not there. */
  const unproven = (method: string, answered: unknown): unknown => {
    if (method !== 'members-get') return answered
    const [sequence, members, changes] = answered as [number, unknown[], [number, Uint8Array][]]
    const without = changes.map(([timeMs, body]) => {
      const forged = Buffer.from(body)
      forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1)
      return [timeMs, forged]
    })
    return [sequence, members, without]
  }

  test('makes nobody a member here', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    lie = unproven
    await service.members.follow()
    expect(roleOf(BOB)).toBeNull()
    expect(roleOf(ADA)).toBe('owner')
  })

  test('raises nobody’s role here, and may lower it and remove them', async () => {
    await world.join(ADA, BOB, 'viewer', ada)
    await service.members.follow()
    lie = unproven
    await world.change({ action: 'change', accountId: ADA, personId: BOB, role: 'owner' }, ada)
    await service.members.follow()
    expect(roleOf(BOB)).toBe('viewer')
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    await service.members.follow()
    expect(roleOf(BOB)).toBeNull()
  })

  test('that forgot who was a member has nobody here whom it does not have', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    await service.members.follow()
    const { members } = world.members.setOf(ADA)
    const left = members.filter(({ personId }) => personId === ADA)
    const row = { accountId: ADA, sequence: 70_000, members: left }
    await world.ledger.commit((writer) => writer.putMembers(row, null)).flushed
    await service.members.follow()
    expect([roleOf(ADA), roleOf(BOB)]).toEqual(['owner', null])
  })
})
