import { afterAll, beforeAll, expect, it } from 'vitest'
import { inviteUser } from '../../src/identity-provider/login/create-user.js'
import {
  AUDIENCE,
  claimsOf,
  EMAIL,
  PASSWORD,
  type RunningLogin,
  runLogin,
} from './login-fixture.js'
import { CALLBACK, CONSOLE_CLIENT, createPerson, type Person, token } from './person.js'

/** How a page of the console stays signed in, and for how long. */

let login: RunningLogin
/** One password is compared; each sign-in after it is the session's. */
let person: Person
beforeAll(async () => {
  login = await runLogin({ consoleRedirectUris: [CALLBACK] })
  person = createPerson(login)
})
afterAll(() => login.stop())

const refresh = (refreshToken: unknown, resource = AUDIENCE) =>
  token(login, {
    client_id: CONSOLE_CLIENT.client_id,
    grant_type: 'refresh_token',
    refresh_token: String(refreshToken),
    resource,
  })

it('a page that is loaded again asks for nothing while its person is signed in', async () => {
  expect((await person.signIn(CONSOLE_CLIENT)).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual(['login', 'consent'])
  expect((await person.signIn(CONSOLE_CLIENT)).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual(['login', 'consent'])
})

it('a refresh token gives a token for the same person and audience, and the next one', async () => {
  const first = await person.signIn(CONSOLE_CLIENT)
  const second = await refresh(first.refresh_token)
  expect(claimsOf(String(second.access_token))).toMatchObject({
    sub: claimsOf(String(first.access_token)).sub,
    aud: AUDIENCE,
  })
  expect(second.refresh_token).not.toBe(first.refresh_token)
})

it('a refresh token that comes twice ends all that followed from it', async () => {
  const first = await person.signIn(CONSOLE_CLIENT)
  const second = await refresh(first.refresh_token)
  expect(await refresh(first.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' })
})

it('a refresh token is no way to the routes that add passkeys', async () => {
  const { refresh_token } = await person.signIn(CONSOLE_CLIENT)
  const answer = await refresh(refresh_token, 'urn:countersign:authorizers')
  expect(answer).toMatchObject({ error: 'invalid_target' })
})

it('a new password ends every session of its person, and what was issued with it', async () => {
  const other = createPerson(login)
  const signedIn = await other.signIn(CONSOLE_CLIENT)
  const { code } = await inviteUser(login.dataDir, EMAIL, 'again')
  expect((await other.signIn(CONSOLE_CLIENT)).access_token).toEqual(expect.any(String))
  const chosen = await fetch(`${login.issuer}/enrol`, {
    method: 'POST',
    body: new URLSearchParams({ code, password: PASSWORD }),
  })
  expect(chosen.status).toBe(200)
  expect(await refresh(signedIn.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  other.forms.length = 0
  expect((await other.signIn(CONSOLE_CLIENT)).access_token).toEqual(expect.any(String))
  expect(other.forms).toContain('login')
  person.forms.length = 0
  await person.signIn(CONSOLE_CLIENT)
  expect(person.forms).toContain('login')
}, 60_000)

it('a refresh token is of no use when its person has signed out', async () => {
  const signedIn = await person.signIn(CONSOLE_CLIENT)
  await person.signOut()
  expect(await refresh(signedIn.refresh_token)).toMatchObject({ error: 'invalid_grant' })
})
