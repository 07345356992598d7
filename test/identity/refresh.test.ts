import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCookieJar } from '../../scripts/dev/cookie-jar.js'
import {
  AUDIENCE,
  claimsOf,
  EMAIL,
  PASSWORD,
  type RunningLogin,
  runLogin,
} from './login-fixture.js'

/** How a page of the console stays signed in, and for how long. */

const CALLBACK = 'http://127.0.0.1:4321/console/callback'
const CONSOLE = 'http://127.0.0.1:4321/console/'
const HOPS_MAX = 16

let login: RunningLogin
beforeAll(async () => {
  login = await runLogin({ consoleRedirectUris: [CALLBACK] })
})
afterAll(() => login.stop())

type Answer = Readonly<Record<string, unknown>>

async function token(form: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${login.issuer}/token`, {
    method: 'POST',
    headers: { origin: 'http://127.0.0.1:4321' },
    body: new URLSearchParams({ client_id: 'countersign-console', resource: AUDIENCE, ...form }),
  })
  return (await response.json()) as Answer
}

const refresh = (refreshToken: unknown) =>
  token({ grant_type: 'refresh_token', refresh_token: String(refreshToken) })

/** A browser, with what it does on the provider's pages. */
function browser() {
  const jar = createCookieJar()
  const forms: string[] = []
  return {
    /** Paths of the forms that had to be filled. */
    forms,
    async signIn(): Promise<Answer> {
      const verifier = randomBytes(32).toString('base64url')
      let url = new URL(`${login.issuer}/auth`)
      url.search = new URLSearchParams({
        client_id: 'countersign-console',
        response_type: 'code',
        scope: 'openid email console',
        resource: AUDIENCE,
        redirect_uri: CALLBACK,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }).toString()
      let form: URLSearchParams | null = null
      for (let hop = 0; hop < HOPS_MAX; hop++) {
        const response: Response = await fetch(url, {
          redirect: 'manual',
          headers: { cookie: jar.header(url) },
          ...(form === null ? {} : { method: 'POST', body: form }),
        })
        jar.store(response.headers.getSetCookie(), url)
        const location = response.headers.get('location')
        form = null
        if (location === null) {
          const page = await response.text()
          const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1] ?? ''
          forms.push(action.split('/').at(-1) ?? '')
          form = new URLSearchParams({ email: EMAIL, password: PASSWORD })
          url = new URL(action, url)
          continue
        }
        url = new URL(location, url)
        const code = url.searchParams.get('code')
        if (code !== null) {
          const exchange = { redirect_uri: CALLBACK, code, code_verifier: verifier }
          return token({ grant_type: 'authorization_code', ...exchange })
        }
      }
      throw new Error('the sign-in did not come to an end')
    },
    async signOut(): Promise<void> {
      const end = new URL(`${login.issuer}/session/end`)
      const asked = { client_id: 'countersign-console', post_logout_redirect_uri: CONSOLE }
      end.search = new URLSearchParams(asked).toString()
      const page = await fetch(end, { headers: { cookie: jar.header(end) } })
      // Browsers hold a form to its policy over all redirects.
      expect(page.headers.get('content-security-policy')).toContain(
        `form-action 'self' ${new URL(CONSOLE).origin};`,
      )
      jar.store(page.headers.getSetCookie(), end)
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
      const confirm = new URL('/session/end/confirm', end)
      const done = await fetch(confirm, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: jar.header(confirm) },
        body: new URLSearchParams({ xsrf, logout: 'yes' }),
      })
      expect(done.headers.get('location')).toBe(CONSOLE)
    },
  }
}

/** One password is compared; each sign-in after it is the session's. */
const person = browser()

it('a page that is loaded anew asks for nothing while its person is signed in', async () => {
  expect((await person.signIn()).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual(['login', 'consent'])
  expect((await person.signIn()).access_token).toEqual(expect.any(String))
  expect(person.forms).toEqual(['login', 'consent'])
})

it('a refresh token gives a token for the same person and audience, and the next one', async () => {
  const first = await person.signIn()
  const second = await refresh(first.refresh_token)
  expect(claimsOf(String(second.access_token))).toMatchObject({
    sub: claimsOf(String(first.access_token)).sub,
    aud: AUDIENCE,
  })
  expect(second.refresh_token).not.toBe(first.refresh_token)
})

it('a refresh token that comes twice ends all that followed from it', async () => {
  const first = await person.signIn()
  const second = await refresh(first.refresh_token)
  expect(await refresh(first.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' })
})

it('a refresh token is no way to the routes that add passkeys', async () => {
  const { refresh_token } = await person.signIn()
  const answer = await token({
    grant_type: 'refresh_token',
    refresh_token: String(refresh_token),
    resource: 'urn:countersign:authorizers',
  })
  expect(answer).toMatchObject({ error: 'invalid_target' })
})

it('a refresh token is of no use when its person has signed out', async () => {
  const signedIn = await person.signIn()
  await person.signOut()
  expect(await refresh(signedIn.refresh_token)).toMatchObject({ error: 'invalid_grant' })
})
