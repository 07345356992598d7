import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { claimsOf, type RunningLogin, runLogin } from './login-fixture.js'
import { CALLBACK, CONSOLE_CLIENT, createPerson, type OidcClient, type Person } from './person.js'

/** Who is given a token that adds authorizers, by which grants are confirmed. */

const AUTHORIZERS = 'urn:countersign:authorizers'
const COMMAND_LINE: OidcClient = {
  client_id: 'countersign-cli',
  redirect_uri: 'http://127.0.0.1:4322/callback',
  scope: 'openid authorizers',
  resource: AUTHORIZERS,
}
const ELEVEN_MINUTES_MS = 11 * 60_000

let login: RunningLogin
let person: Person
beforeAll(async () => {
  login = await runLogin({ consoleRedirectUris: [CALLBACK] })
  person = createPerson(login)
  await person.signIn(CONSOLE_CLIENT)
})
afterEach(() => vi.useRealTimers())
afterAll(() => login.stop())

it.each(['openid', 'openid authorizers', 'openid email console authorizers'])(
  'the pages of the wallet service get none for %j, though their person is signed in',
  async (scope) => {
    const answer = await person.signIn({ ...CONSOLE_CLIENT, scope, resource: AUTHORIZERS })
    expect(answer).toMatchObject({ error: 'invalid_target' })
  },
)

it('the command line gets one of ten minutes', async () => {
  const { access_token, expires_in } = await person.signIn(COMMAND_LINE)
  const { aud, iat, exp } = claimsOf(String(access_token))
  expect({ aud, expires_in, seconds: Number(exp) - Number(iat) }).toEqual({
    aud: AUTHORIZERS,
    expires_in: 600,
    seconds: 600,
  })
})

it('a session that is not of just now gets none before its person signs in again', async () => {
  await person.signIn(COMMAND_LINE)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ELEVEN_MINUTES_MS })
  person.forms.length = 0
  expect((await person.signIn(CONSOLE_CLIENT)).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual([])
  expect((await person.signIn(COMMAND_LINE)).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual(['login', 'consent'])
})
