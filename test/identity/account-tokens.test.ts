import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Role } from '../../src/domain/role.js'
import { AUDIENCE, claimsOf, type RunningLogin, runLogin } from './login-fixture.js'
import { CALLBACK, CONSOLE_CLIENT, createPerson, type Person, token } from './person.js'

/** Which account a console token is for, and for how long one can be had. */

const OTHER = 'user_other'
const OF_OTHER = `${AUDIENCE}?account=${OTHER}`

let login: RunningLogin
let person: Person
let roles: Readonly<Record<string, Role>> = {}
/** Whether the person is the owner of their own account still. */
let hasOwn = true
beforeAll(async () => {
  login = await runLogin({ consoleRedirectUris: [CALLBACK] })
  login.takeMemberships({
    roleOf: (accountId, personId) =>
      accountId === personId ? (hasOwn ? 'owner' : null) : (roles[accountId] ?? null),
    membershipsOf: () => Object.entries(roles).map(([accountId, role]) => ({ accountId, role })),
  })
  person = createPerson(login)
})
afterAll(() => login.stop())
beforeEach(() => {
  roles = { [OTHER]: 'approver' }
  hasOwn = true
})

const signInFor = (resource: string) => person.signIn({ ...CONSOLE_CLIENT, resource })
const refresh = (refreshToken: unknown, resource: string) =>
  token(login, {
    client_id: CONSOLE_CLIENT.client_id,
    grant_type: 'refresh_token',
    refresh_token: String(refreshToken),
    resource,
  })

it('a token is for the person’s own account, without a word of it, where none is named', async () => {
  const { access_token } = await signInFor(AUDIENCE)
  const claims = claimsOf(String(access_token))
  expect(claims).not.toHaveProperty('countersign_account')
  expect(claims).not.toHaveProperty('countersign_role')
})

it('a token is for the account that was asked for, with what the person is there', async () => {
  const { access_token, refresh_token } = await signInFor(OF_OTHER)
  const said = { aud: AUDIENCE, countersign_account: OTHER, countersign_role: 'approver' }
  expect(claimsOf(String(access_token))).toMatchObject(said)
  roles = { [OTHER]: 'viewer' }
  const next = await refresh(refresh_token, OF_OTHER)
  expect(claimsOf(String(next.access_token))).toMatchObject({ countersign_role: 'viewer' })
})

it('nobody who is no member gets one', async () => {
  roles = {}
  expect(await signInFor(OF_OTHER)).toMatchObject({ error: 'invalid_grant' })
  const stranger = await signInFor(`${AUDIENCE}?account=user_nobody`)
  expect(stranger).toMatchObject({ error: 'invalid_grant' })
})

it('whoever was removed gets no other one, and one for their own account still', async () => {
  const { refresh_token } = await signInFor(OF_OTHER)
  roles = {}
  expect(await refresh(refresh_token, OF_OTHER)).toMatchObject({ error: 'invalid_grant' })
  expect(claimsOf(String((await signInFor(AUDIENCE)).access_token))).toMatchObject({
    aud: AUDIENCE,
  })
})

it('whoever left the account that was their own gets none for it', async () => {
  const { refresh_token } = await signInFor(AUDIENCE)
  hasOwn = false
  expect(await refresh(refresh_token, AUDIENCE)).toMatchObject({ error: 'invalid_grant' })
  const accounts = [{ account_id: OTHER, role: 'approver' }]
  const refused = { error: 'invalid_grant', countersign_accounts: accounts }
  expect(await signInFor(AUDIENCE), 'where one may be had').toMatchObject(refused)
})

it('whoever is in no account at all is told that it is none', async () => {
  hasOwn = false
  roles = {}
  const refused = { error: 'invalid_grant', countersign_accounts: [] }
  expect(await signInFor(AUDIENCE)).toMatchObject(refused)
  expect(await signInFor(OF_OTHER)).toMatchObject(refused)
})

it('while the ledger is not there nobody is told that they are in none', async () => {
  const early = await runLogin({ consoleRedirectUris: [CALLBACK] })
  try {
    const of = { ...CONSOLE_CLIENT, resource: OF_OTHER }
    const refused = await createPerson(early).signIn(of)
    expect(refused).toMatchObject({ error: 'invalid_grant' })
    expect(refused).not.toHaveProperty('countersign_accounts')
  } finally {
    await early.stop()
  }
})

it('a refresh token of one account is none of another', async () => {
  const { refresh_token } = await signInFor(AUDIENCE)
  expect(await refresh(refresh_token, OF_OTHER)).toMatchObject({ error: 'invalid_target' })
})

it('an account that is none of a name is refused before anybody signs in', async () => {
  const odd = await person.signIn({ ...CONSOLE_CLIENT, resource: `${AUDIENCE}?account=%0a` })
  expect(odd).toMatchObject({ error: 'invalid_target' })
})
