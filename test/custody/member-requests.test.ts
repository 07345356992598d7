import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeMemberStatement } from '../../src/custody/members/member-statement.js'
import { createMemberRequests } from '../../src/identity-provider/vault/member-requests.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import { refusalOf } from './hostile.js'
import { newHome, openWorld, proofOver, removeHome, type World } from './member-world.js'

/** What the socket asks of the user side about members. */

const [ADA, BOB, CAT] = ['user_ada', 'user_bob', 'user_cat']

let home: string
let world: World
beforeEach(async () => {
  home = newHome()
  world = await openWorld(home)
  await world.join(ADA, BOB, 'viewer', await world.addKey(ADA))
})
afterEach(async () => {
  await world.close()
  removeHome(home)
})

test('a service that was taken over while a token was verified changes no member', async () => {
  let isFenced = false
  const requests = createMemberRequests(world.members, null, async () => {
    isFenced = true
    return { personId: ADA, accountId: ADA }
  })
  const removal = world.statement({ action: 'remove', accountId: ADA, personId: BOB })
  const fields = {
    ...{ statement: encodeMemberStatement(removal), proof: null, consoleToken: 'a token' },
  }
  const asked: string[] = []
  const refused = requests.put(fields, (action) => {
    asked.push(action)
    if (isFenced) throw new Refusal('FENCED', 'taken over')
  })
  expect(await refusalOf(refused)).toBe('FENCED')
  expect(asked).toEqual(['remove'])
  expect(world.members.roleOf(ADA, BOB)).toBe('viewer')
  await requests.put(fields, () => {})
  expect(world.members.roleOf(ADA, BOB)).toBeNull()
})

test('a role is raised of the person whose address an owner was shown, and of no other', async () => {
  await world.join(ADA, CAT, 'viewer', await world.addKey(ADA))
  const holder = { personId: ADA, accountId: ADA }
  const requests = createMemberRequests(world.members, null, async () => holder)
  const raise = { action: 'change', accountId: ADA, personId: BOB, role: 'owner' } as const
  const put = async (email: string) => {
    const said = world.statement({ ...raise, email })
    const proof = await proofOver(said, await world.addKey(ADA))
    const statement = encodeMemberStatement(said)
    return requests.put({ statement, proof, consoleToken: 'a token' }, () => {})
  }
  expect(await refusalOf(put(`${CAT}@example.test`))).toBe('NOT_GRANTED')
  expect(world.members.roleOf(ADA, BOB)).toBe('viewer')
  await put(`${BOB}@example.test`)
  expect(world.members.roleOf(ADA, BOB)).toBe('owner')
})

test('an invitation is planned and taken alike, whether or not the person signs in yet', async () => {
  const holder = { personId: ADA, accountId: ADA }
  const known = new Map([[`${CAT}@example.test`, CAT]])
  const people = {
    byEmail: async (email: string) => {
      const address = email.toLowerCase()
      return { personId: known.get(address) ?? `user_of_${address}`, email: address }
    },
    emailOf: (personId: string) => (personId === CAT ? `${CAT}@Example.test` : null),
  }
  const requests = createMemberRequests(world.members, people, async () => holder)
  for (const email of [`${CAT}@Example.TEST`, 'Nobody@example.test']) {
    const address = email.toLowerCase()
    const personId = known.get(address) ?? `user_of_${address}`
    const { sequence } = world.members.setOf(ADA)
    const asked = { accountId: ADA, action: 'invite', who: email, consoleToken: 'a token' } as const
    expect(await requests.plan(asked)).toEqual({
      ...{ personId, email: address, byId: ADA, sequence: sequence + 1, role: 'viewer' },
    })
    const put = async (shown: string) => {
      const said = world.statement({ action: 'invite', accountId: ADA, personId, email: shown })
      const proof = await proofOver(said, await world.addKey(ADA))
      const statement = encodeMemberStatement(said)
      return requests.put({ statement, proof, consoleToken: 'a token' }, () => {})
    }
    // Another person's address, and the same one as it was typed.
    for (const shown of ['other@example.test', email]) {
      expect(await refusalOf(put(shown))).toBe('NOT_GRANTED')
    }
    await put(address)
    expect(world.members.setOf(ADA).members.at(-1)).toMatchObject({ personId, email: address })
    expect(world.members.roleOf(ADA, personId)).toBeNull()
  }
})
