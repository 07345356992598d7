import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type CookieJar, createCookieJar } from '../../scripts/dev/cookie-jar.js'
import { AUDIENCE, EMAIL, PASSWORD, type RunningLogin } from './login-fixture.js'

/** The account's owner at a browser: what a client's page asks for, and the forms that are filled. */
export interface Person {
  /** Paths of the forms that had to be filled. */
  readonly forms: string[]
  /** @returns what the token endpoint answered, or the error that the page was sent back with */
  signIn(client: OidcClient): Promise<Answer>
  signOut(): Promise<void>
}

export interface OidcClient {
  readonly client_id: string
  readonly redirect_uri: string
  readonly scope: string
  readonly resource: string
}

export type Answer = Readonly<Record<string, unknown>>

export const CALLBACK = 'http://127.0.0.1:4321/console/callback'
const CONSOLE = 'http://127.0.0.1:4321/console/'
export const CONSOLE_CLIENT: OidcClient = {
  client_id: 'countersign-console',
  redirect_uri: CALLBACK,
  scope: 'openid email console',
  resource: AUDIENCE,
}
const HOPS_MAX = 16

/** @param login that takes the console's callback */
export function createPerson(login: Pick<RunningLogin, 'issuer'>): Person {
  const jar = createCookieJar()
  const forms: string[] = []
  return {
    forms,
    async signIn(client) {
      const verifier = randomBytes(32).toString('base64url')
      const { client_id, redirect_uri, resource } = client
      const sentBack = await cameBack(login, jar, forms, client, verifier)
      const code = sentBack.get('code')
      if (code === null) return Object.fromEntries(sentBack)
      const exchange = { redirect_uri, resource, code, code_verifier: verifier }
      return token(login, { client_id, grant_type: 'authorization_code', ...exchange })
    },
    async signOut() {
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

export async function token(
  { issuer }: Pick<RunningLogin, 'issuer'>,
  form: Readonly<Record<string, string>>,
): Promise<Answer> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { origin: 'http://127.0.0.1:4321' },
    body: new URLSearchParams(form),
  })
  return (await response.json()) as Answer
}

/** The query that the client's page is sent back with. */
async function cameBack(
  login: Pick<RunningLogin, 'issuer'>,
  jar: CookieJar,
  forms: string[],
  client: OidcClient,
  verifier: string,
): Promise<URLSearchParams> {
  let url = new URL(`${login.issuer}/auth`)
  url.search = new URLSearchParams({
    ...client,
    response_type: 'code',
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
    if (url.href.startsWith(client.redirect_uri)) return url.searchParams
  }
  throw new Error('the sign-in did not come to an end')
}
