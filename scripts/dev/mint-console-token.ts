import { createHash, randomBytes } from 'node:crypto'
import { CONSOLE_AUDIENCE } from '../../src/domain/console-audience.js'
import {
  AUTHORIZERS_AUDIENCE,
  AUTHORIZERS_SCOPE,
} from '../../src/identity-provider/login/audiences.js'
import {
  COMMAND_LINE_CLIENT_ID,
  COMMAND_LINE_REDIRECT_URI,
} from '../../src/identity-provider/login/clients.js'
import { createCookieJar } from './cookie-jar.js'

/** The bound of requests in one sign-in, which takes seven besides discovery. */
const HOPS_MAX = 16
const REQUEST_TIMEOUT_MS = 30_000

export interface MintOptions {
  readonly issuer: string
  readonly email: string
  readonly password: string
  /** `authorizers` is for the identity provider's authorizer routes; the default is the console. */
  readonly purpose?: 'console' | 'authorizers'
  /** The account that the token is for; by default the person's own. */
  readonly account?: string
}

/** A sign-in without a token; the message is for the person who started it. */
export class SignInError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SignInError'
  }
}

interface Endpoints {
  readonly authorization: URL
  readonly token: URL
}

/**
 * Signs in as a person would in a browser (authorization code with PKCE, RFC 7636: login form,
 * consent form, redirect) and exchanges the code.
 * @returns the token, a JWT
 * @throws SignInError when the identity provider is unreachable or refuses
 */
export async function mintConsoleToken(options: MintOptions): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const endpoints = await discover(options.issuer)
  const start = new URL(endpoints.authorization)
  start.search = new URLSearchParams({
    client_id: COMMAND_LINE_CLIENT_ID,
    response_type: 'code',
    ...(options.purpose === 'authorizers'
      ? { scope: `openid ${AUTHORIZERS_SCOPE}`, resource: AUTHORIZERS_AUDIENCE }
      : { scope: 'openid email console' }),
    ...(options.account === undefined
      ? {}
      : { resource: `${CONSOLE_AUDIENCE}?account=${options.account}` }),
    redirect_uri: COMMAND_LINE_REDIRECT_URI,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
  }).toString()
  const callback = await browseToCallback(start, options)
  if (callback.searchParams.get('state') !== state) {
    throw new SignInError('the identity provider answered another sign-in (state differs)')
  }
  const code = callback.searchParams.get('code')
  if (code === null) {
    const reason =
      callback.searchParams.get('error_description') ?? callback.searchParams.get('error')
    throw new SignInError(`the identity provider refused: ${reason ?? 'no reason given'}`)
  }
  return exchange(endpoints.token, code, verifier)
}

async function discover(issuer: string): Promise<Endpoints> {
  const response = await send(new URL(`${issuer}/.well-known/openid-configuration`), {})
  const document = await readJson(response)
  if (response.status !== 200 || document.issuer !== issuer) {
    throw new SignInError(`no identity provider answers at ${issuer}`)
  }
  return {
    authorization: new URL(String(document.authorization_endpoint)),
    token: new URL(String(document.token_endpoint)),
  }
}

/** Follows redirects and fills forms until the redirect to the client's own address. */
async function browseToCallback(start: URL, user: MintOptions): Promise<URL> {
  const jar = createCookieJar()
  let passwordSent = false
  let url = start
  let form: URLSearchParams | null = null
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const cookie = jar.header(url)
    const response = await send(url, {
      headers: cookie === '' ? {} : { cookie },
      ...(form === null ? {} : { method: 'POST', body: form }),
    })
    jar.store(response.headers.getSetCookie(), url)
    const location = response.headers.get('location')
    if (location !== null) {
      url = new URL(location, url)
      form = null
      if (url.href.split('?', 1)[0] === COMMAND_LINE_REDIRECT_URI) return url
      if (url.origin !== start.origin) throw new SignInError('redirected to a stranger')
      continue
    }
    const page = await response.text()
    const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1]
    if (!response.ok || action === undefined) throw new SignInError(explain(response.status, page))
    if (page.includes('name="password"')) {
      if (passwordSent) throw new SignInError('the identity provider asked for the password twice')
      passwordSent = true
      form = new URLSearchParams({ email: user.email, password: user.password })
    } else {
      form = new URLSearchParams()
    }
    url = new URL(action.replaceAll('&#38;', '&'), url)
  }
  throw new SignInError('the sign-in did not come to an end')
}

async function exchange(tokenEndpoint: URL, code: string, verifier: string): Promise<string> {
  const response = await send(tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: COMMAND_LINE_CLIENT_ID,
      redirect_uri: COMMAND_LINE_REDIRECT_URI,
      code,
      code_verifier: verifier,
    }),
  })
  const body = await readJson(response)
  if (typeof body.access_token === 'string') return body.access_token
  throw new SignInError(`the identity provider issued no token: ${String(body.error)}`)
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    return await fetch(url, { ...init, redirect: 'manual', signal })
  } catch (cause) {
    throw new SignInError(`the identity provider at ${url.origin} does not answer`, { cause })
  }
}

async function readJson(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => null)
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

function explain(status: number, page: string): string {
  const problem = (/role="alert">([^<]+)</.exec(page) ?? /<p>([^<]+)</.exec(page))?.[1]
  return `sign-in failed (HTTP ${status}): ${problem ?? 'unexpected page'}`
}
