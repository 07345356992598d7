import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeProof } from '../../src/custody/authorizers/proof.js'
import { type ReadEvidence, readEvidence } from '../../src/custody/evidence/read-evidence.js'
import {
  describeMember,
  encodeMemberStatement,
  readMemberStatement,
} from '../../src/custody/members/member-statement.js'
import { verifyAuthority } from '../../src/custody-tools/audit/verify-authority.js'
import { MEMBERS_MAX } from '../../src/domain/members.js'
import { ROLES, type Role } from '../../src/domain/role.js'
import { MEMBERSHIPS_MAX } from '../../src/identity-provider/vault/members.js'
import type { P256Signer } from '../../src/quorum-protocol/p256.js'
import { publicKeyFromRaw } from '../../src/quorum-protocol/p256.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'
import { TAG, tagged } from '../../src/quorum-protocol/tagged.js'
import { refusalOf } from './hostile.js'
import {
  idOf,
  LIVE,
  newHome,
  openWorld,
  ownerHashOf,
  proofOver,
  removeHome,
  type World,
} from './member-world.js'

const [ADA, BOB, CAT, EVE] = ['user_ada', 'user_bob', 'user_cat', 'user_eve']
const ACCOUNT = ownerHashOf(ADA)

let home: string
let world: World
let ada: P256Signer

beforeEach(async () => {
  home = newHome()
  world = await openWorld(home)
  ada = await world.addKey(ADA)
})
afterEach(async () => {
  await world.close()
  removeHome(home)
})

const rolesIn = (accountId: string) =>
  Object.fromEntries(
    world.members
      .setOf(accountId)
      .members.map(({ personId }) => [personId, world.members.roleOf(accountId, personId)]),
  )

/** Whether an authorizer's proof passes for the account, over any statement. */
async function confirms(key: P256Signer, power: 'approve' | 'enlarge'): Promise<boolean> {
  const message = tagged(TAG.grantChange, Buffer.from('anything'))
  const signature = await key.sign(message)
  const proof = encodeProof({ kind: 'p256', authorizerId: idOf(key), signature })
  const asked = { message, ownerHash: ACCOUNT, confirmBeforeMs: Date.now() + 60_000 }
  try {
    await world.authorizer.confirm(asked, proof, Date.now(), power)
    return true
  } catch {
    return false
  }
}

describe('an account', () => {
  test('is its own person’s alone until somebody comes', () => {
    expect(rolesIn(ADA)).toEqual({ [ADA]: 'owner' })
    expect(world.members.membershipsOf(ADA)).toEqual([{ accountId: ADA, role: 'owner' }])
    expect(world.members.roleOf(ADA, EVE)).toBeNull()
  })

  test('has who was invited by an owner’s authorizer and came, and nobody before', async () => {
    const invite = { action: 'invite', accountId: ADA, personId: BOB, role: 'approver' } as const
    expect(await refusalOf(world.change(invite, null))).toBe('NOT_CONFIRMED')
    await world.change(invite, ada)
    expect(rolesIn(ADA)).toEqual({ [ADA]: 'owner', [BOB]: null })
    const accept = { ...invite, action: 'accept', byId: BOB } as const
    expect(await refusalOf(world.change(accept, null))).toBe('NOT_CONFIRMED')
    expect(await refusalOf(world.change(accept, ada))).toBe('NOT_CONFIRMED')
    await world.change(accept, await world.addKey(BOB))
    expect(rolesIn(ADA)).toEqual({ [ADA]: 'owner', [BOB]: 'approver' })
    expect(world.members.membershipsOf(BOB)).toEqual([
      { accountId: BOB, role: 'owner' },
      { accountId: ADA, role: 'approver' },
    ])
    expect(world.memberEvidence().map(({ proof }) => proof.length > 0)).toEqual([true, true])
  })

  test('takes an invitation from the person invited alone, once, and as what it was confirmed', async () => {
    const accept = { action: 'accept', accountId: ADA, personId: BOB, role: 'viewer' } as const
    await world.change({ action: 'invite', accountId: ADA, personId: BOB, role: 'viewer' }, ada)
    expect(await refusalOf(world.change({ ...accept, byId: EVE }, null))).toBe('NOT_GRANTED')
    const others = { ...accept, personId: EVE, byId: EVE }
    expect(await refusalOf(world.change(others, null))).toBe('NOT_GRANTED')
    const more = { ...accept, role: 'owner', byId: BOB } as const
    expect(await refusalOf(world.change(more, null))).toBe('NOT_GRANTED')
    const bob = await world.addKey(BOB)
    const both = [
      world.change({ ...accept, byId: BOB }, bob),
      world.change({ ...accept, byId: BOB }, bob),
    ]
    const outcomes = await Promise.allSettled(both)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await refusalOf(world.change({ ...accept, byId: BOB }, null))).toBe('NOT_GRANTED')
  })

  test('lets no invitation lie about for longer than it may', async () => {
    const invite = { action: 'invite', accountId: ADA, personId: BOB } as const
    const late = { ...invite, acceptBeforeMs: Date.now() + 8 * 24 * 3_600_000 }
    expect(await refusalOf(world.change(late, ada))).toBe('MALFORMED')
    const gone = { ...invite, acceptBeforeMs: Date.now() - 1 }
    expect(await refusalOf(world.change(gone, ada))).toBe('MALFORMED')
  })

  test('ends the invitations of an owner with that owner', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    const bob = await world.addKey(BOB)
    const invite = { action: 'invite', accountId: ADA, personId: EVE, role: 'owner' } as const
    await world.change({ ...invite, byId: BOB }, bob)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    const accept = { ...invite, action: 'accept', byId: EVE } as const
    expect(await refusalOf(world.change(accept, null))).toBe('NOT_GRANTED')
  })
})

describe('a role', () => {
  const MAY: Readonly<Record<Role, readonly boolean[]>> = {
    owner: [true, true],
    approver: [true, false],
    operator: [false, false],
    viewer: [false, false],
  }
  test.each(ROLES)('%s: its authorizers confirm what it may, and nothing else', async (role) => {
    const key = await world.addKey(BOB)
    await world.join(ADA, BOB, role, ada)
    expect([await confirms(key, 'approve'), await confirms(key, 'enlarge')]).toEqual(MAY[role])
    const invite = { action: 'invite', accountId: ADA, personId: EVE, byId: BOB } as const
    const invited = world.change(invite, key)
    if (role === 'owner') await invited
    else expect(await refusalOf(invited)).toBe('NOT_GRANTED')
  })

  test('in one account is none in another', async () => {
    const bob = await world.addKey(BOB)
    await world.join(ADA, BOB, 'viewer', ada)
    // Bob is owner of his own account: neither his name nor his proof is worth anything in Ada's.
    const own = world.statement({ action: 'invite', accountId: BOB, personId: EVE, role: 'owner' })
    const proof = await proofOver(own, bob)
    const { sequence } = world.statement({ action: 'invite', accountId: ADA, personId: EVE })
    const theirs = { ...own, accountId: ADA, byId: ADA, sequence }
    expect(await refusalOf(world.members.change(theirs, proof))).toBe('NOT_CONFIRMED')
    expect(await refusalOf(world.change({ ...theirs, byId: BOB }, bob))).toBe('NOT_GRANTED')
    expect(await refusalOf(world.change({ ...theirs, byId: ADA }, bob))).toBe('NOT_CONFIRMED')
  })

  test('is raised by an owner’s authorizer alone, and lowered without one', async () => {
    await world.join(ADA, BOB, 'operator', ada)
    const to = (role: Role) => ({ action: 'change', accountId: ADA, personId: BOB, role }) as const
    for (const role of ['approver', 'owner'] as const) {
      expect(await refusalOf(world.change(to(role), null))).toBe('NOT_CONFIRMED')
    }
    await world.change(to('viewer'), null)
    expect(world.members.roleOf(ADA, BOB)).toBe('viewer')
    await world.change(to('owner'), ada)
    expect(world.members.roleOf(ADA, BOB)).toBe('owner')
  })

  test('of a proof is good for one change, not for the same once more', async () => {
    const said = world.statement({ action: 'invite', accountId: ADA, personId: BOB, role: 'owner' })
    const proof = await proofOver(said, ada)
    await world.members.change(said, proof)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    expect(await refusalOf(world.members.change(said, proof))).toBe('STALE_GRANT')
    const again = { ...said, sequence: said.sequence + 2 }
    expect(await refusalOf(world.members.change(again, proof))).toBe('NOT_CONFIRMED')
  })
})

describe('a removal', () => {
  test('ends what the person’s authorizers may at once', async () => {
    const bob = await world.addKey(BOB)
    await world.join(ADA, BOB, 'owner', ada)
    expect(await confirms(bob, 'enlarge')).toBe(true)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    expect([await confirms(bob, 'approve'), await confirms(bob, 'enlarge')]).toEqual([false, false])
    expect(world.members.membershipsOf(BOB)).toEqual([{ accountId: BOB, role: 'owner' }])
  })

  test('ends what was confirmed and is not in force yet', async () => {
    const bob = await world.addKey(BOB)
    await world.join(ADA, BOB, 'owner', ada)
    const confirmed = { proof: Buffer.alloc(0), authorizerId: idOf(bob), signCount: 0 }
    world.authorizer.requireStanding(confirmed, ACCOUNT)
    await world.change({ action: 'change', accountId: ADA, personId: BOB, role: 'approver' }, null)
    expect(() => world.authorizer.requireStanding(confirmed, ACCOUNT)).toThrow()
  })

  test('never takes the last owner, also where two race', async () => {
    const remove = { action: 'remove', accountId: ADA, role: 'owner' } as const
    expect(await refusalOf(world.change({ ...remove, personId: ADA }, null))).toBe('CONFLICT')
    await world.join(ADA, BOB, 'owner', ada)
    const outcomes = await Promise.allSettled([
      world.change({ ...remove, personId: BOB, byId: ADA }, null),
      world.change({ ...remove, personId: ADA, byId: BOB }, null),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(rolesIn(ADA)).toEqual({ [ADA]: 'owner' })
    const lower = { action: 'change', accountId: ADA, personId: ADA, role: 'viewer' } as const
    expect(await refusalOf(world.change(lower, null))).toBe('CONFLICT')
  })

  test('is a person’s own to ask for, and otherwise an owner’s', async () => {
    await world.join(ADA, BOB, 'operator', ada)
    await world.join(ADA, CAT, 'viewer', ada)
    const remove = { action: 'remove', accountId: ADA, personId: CAT, role: 'viewer' } as const
    expect(await refusalOf(world.change({ ...remove, byId: BOB }, null))).toBe('NOT_GRANTED')
    await world.change({ ...remove, byId: CAT }, null)
    expect(world.members.roleOf(ADA, CAT)).toBeNull()
  })

  test('of whom an account began with leaves them nothing there', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    const remove = { action: 'remove', accountId: ADA, personId: ADA, role: 'owner' } as const
    await world.change({ ...remove, byId: BOB }, null)
    expect(world.persons.may(ACCOUNT, ADA, 'read')).toBe(false)
    expect(await confirms(ada, 'enlarge')).toBe(false)
    expect(world.members.membershipsOf(ADA)).toEqual([])
  })
})

describe('people who approve', () => {
  const count = (...keys: P256Signer[]) => world.persons.countOf(ACCOUNT, 'approve', keys.map(idOf))

  test('are people, not their authorizers, from the first invitation on', async () => {
    const second = await world.addKey(ADA, ada)
    expect(count(ada, second)).toBe(2)
    await world.join(ADA, BOB, 'approver', ada)
    const bob = await world.addKey(BOB)
    expect(count(ada, second)).toBe(1)
    expect(count(ada, second, bob)).toBe(2)
    await world.change({ action: 'change', accountId: ADA, personId: BOB, role: 'viewer' }, null)
    expect(count(ada, second, bob)).toBe(1)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'viewer' }, null)
    expect(count(ada, second, bob)).toBe(1)
  })

  test('do not count twice by the authorizer of somebody who is not of the account', async () => {
    const eve = await world.addKey(EVE)
    expect(count(ada, eve)).toBe(1)
    await world.change({ action: 'invite', accountId: ADA, personId: EVE, role: 'approver' }, ada)
    expect(count(ada, eve)).toBe(1)
  })
})

describe('the audit', () => {
  const problems = async (change: (user: ReadEvidence) => ReadEvidence = (user) => user) => {
    const user = change(readEvidence('user', world.log.entries()))
    const approver = publicKeyFromRaw(world.signer.publicKey)
    const registry = { ...LIVE, keysOf: () => [approver] } as unknown as Registry
    return (await verifyAuthority([readEvidence('service log', [])], user, registry)).problems
  }

  test('finds each change of members proved, by who was an owner then', async () => {
    await world.join(ADA, BOB, 'owner', ada)
    const bob = await world.addKey(BOB)
    await world.change({ action: 'invite', accountId: ADA, personId: EVE, byId: BOB }, bob)
    await world.change({ action: 'remove', accountId: ADA, personId: BOB, role: 'owner' }, null)
    expect(await problems()).toEqual([])
  })

  test('names one that nobody confirmed, and one that is against the rules', async () => {
    await world.join(ADA, BOB, 'operator', ada)
    const found = await problems((user) => ({
      ...user,
      members: user.members.map((entry) => ({
        ...entry,
        value: { ...entry.value, proof: Buffer.alloc(0) },
      })),
    }))
    const unproven = expect.stringContaining('has a proof that does not verify')
    expect(found).toEqual([unproven, unproven])
    const unruly = await problems((user) => ({ ...user, members: user.members.slice(1) }))
    expect(unruly).toEqual([expect.stringContaining('against the rules')])
  })
})

describe('bounds', () => {
  test('hold for members of an account, invited ones among them', async () => {
    for (let i = 1; i < MEMBERS_MAX; i++) {
      await world.change({ action: 'invite', accountId: ADA, personId: `user_${i}` }, ada)
    }
    const one = { action: 'invite', accountId: ADA, personId: 'user_more' } as const
    expect(await refusalOf(world.change(one, ada))).toBe('CONFLICT')
  })

  test('hold for accounts of a person', async () => {
    for (let i = 1; i < MEMBERSHIPS_MAX; i++) {
      const key = await world.addKey(`user_of_${i}`)
      await world.join(`user_of_${i}`, BOB, 'viewer', key)
    }
    // By a stranger's invitation nobody is kept from another's.
    await world.change({ action: 'invite', accountId: ADA, personId: BOB }, ada)
    const accept = { action: 'accept', accountId: ADA, personId: BOB, byId: BOB } as const
    expect(await refusalOf(world.change(accept, null))).toBe('CONFLICT')
    const left = { action: 'remove', accountId: 'user_of_1', personId: BOB, byId: BOB } as const
    await world.change(left, null)
    await world.change(accept, await world.addKey(BOB))
    expect(world.members.roleOf(ADA, BOB)).toBe('viewer')
  })
})

describe('a statement', () => {
  test('is read as it was written, and shown in words', () => {
    const said = world.statement({ action: 'invite', accountId: ADA, personId: BOB, role: 'owner' })
    const encoded = encodeMemberStatement(said)
    expect(readMemberStatement(Buffer.concat([encoded, Buffer.of(7)]))).toEqual({
      statement: said,
      encoded,
      rest: Buffer.of(7),
    })
    expect(describeMember(said).map(([name]) => name)).toEqual([
      'Invite',
      'As',
      'Who then may',
      'In the account',
      'To be accepted before',
    ])
  })

  test.each(['bob\u202e@example.test', 'bob\u200b@example.test', 'bob\n@example.test', ''])(
    'names nobody by what could be shown as another: %j',
    async (email) => {
      const invite = { action: 'invite', accountId: ADA, personId: BOB, email } as const
      expect(await refusalOf(world.change(invite, ada))).toBe('MALFORMED')
    },
  )
})
