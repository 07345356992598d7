import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeMemberStatement } from '../../src/custody/members/member-statement.js'
import { createMemberRequests } from '../../src/identity-provider/vault/member-requests.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import { refusalOf } from './hostile.js'
import { newHome, openWorld, removeHome, type World } from './member-world.js'

/** What the socket asks of the user side about members. */

const [ADA, BOB] = ['user_ada', 'user_bob']

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
  const fields = [encodeMemberStatement(removal), null, 'a token']
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
