import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { createConsoleTokenVerifier } from '../../src/auth/console-token.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { startLogin } from '../../src/identity-provider/login/start-login.js'
import { freePort } from '../support/ports.js'
import { createSignInBrowser } from '../support/sign-in-browser.js'
import {
  AUDIENCE,
  claimsOf,
  EMAIL,
  PASSWORD,
  type RunningLogin,
  runLogin,
} from './login-fixture.js'

let login: RunningLogin

beforeAll(async () => {
  login = await runLogin()
})
afterAll(() => login.stop())

const authorizeUrl = (overrides: Record<string, string> = {}, issuer = login.issuer) => {
  const url = new URL(`${issuer}/auth`)
  url.search = new URLSearchParams({
    client_id: 'countersign-console',
    response_type: 'code',
    scope: 'openid email console',
    redirect_uri: 'http://127.0.0.1:4321/console/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...overrides,
  }).toString()
  return url
}

describe('where passkeys live', () => {
  it('the sign-in page asks for one by a script of this origin, and elsewhere by none', async () => {
    const own = await runLogin()
    try {
      const shown = async () => {
        const browser = createSignInBrowser({ email: '', password: '' })
        return browser.look(authorizeUrl({}, own.issuer).href)
      }
      const origins: string[] = []
      own.takePasskeys({
        rpIdAt: (origin) => (origins.push(origin) > 1 ? 'localhost' : null),
        challengeOf: (interactionId) => `of-${interactionId}`,
        isSignedBy: async () => false,
      })
      const elsewhere = await shown()
      expect(elsewhere.html).not.toContain('passkey')
      expect(elsewhere.policy).not.toContain('script-src')
      const here = await shown()
      expect(origins).toEqual([own.issuer, own.issuer])
      const id = here.url.pathname.split('/').at(-1)
      expect(here.html).toContain(`data-challenge="of-${id}" data-rp-id="localhost"`)
      expect(here.policy).toContain("; script-src 'self'")
      const script = await fetch(`${own.issuer}/sign-in/passkey.js`)
      expect(script.headers.get('content-type')).toContain('text/javascript')
      expect(await script.text()).toContain('navigator.credentials.get')
    } finally {
      await own.stop()
    }
  })
})

describe('signing in with authorization code and PKCE', () => {
  it('gives a JWT that the wallet service accepts', async () => {
    const token = await mintConsoleToken({ issuer: login.issuer, email: EMAIL, password: PASSWORD })
    const verifier = createConsoleTokenVerifier({
      issuer: login.issuer,
      audience: AUDIENCE,
      jwksUrl: login.jwksUrl,
    })
    const result = await verifier.verify(`Bearer ${token}`)
    expect(result).toMatchObject({ ok: true, value: { email: EMAIL } })
    const claims = claimsOf(token)
    expect(claims.sub).toMatch(/^user_[0-9A-Z]{26}$/)
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3_600)
  })

  it('names the same person by the same sub, whatever the case of the email', async () => {
    const mint = (email: string) =>
      mintConsoleToken({ issuer: login.issuer, email, password: PASSWORD })
    const [first, second] = [await mint(EMAIL), await mint(EMAIL.toUpperCase())]
    expect(claimsOf(second).sub).toBe(claimsOf(first).sub)
  })

  it('signs in an account made while the server runs', async () => {
    const made = await createUser(login.dataDir, 'grace@example.test', 'another long password')
    const token = await mintConsoleToken({
      issuer: login.issuer,
      email: 'grace@example.test',
      password: 'another long password',
    })
    expect(claimsOf(token).sub).toBe(made.userId)
  })

  it('refuses a second account with the same email', async () => {
    await expect(
      createUser(login.dataDir, 'ADA@example.test', 'yet another long one'),
    ).rejects.toThrow('exists')
  })

  it('refuses a short password for a new account', async () => {
    await expect(createUser(login.dataDir, 'x@example.test', 'short')).rejects.toThrow('12 to 128')
  })

  it('refuses a wrong password and an unknown email with the same words', async () => {
    const wrong = mintConsoleToken({ issuer: login.issuer, email: EMAIL, password: 'not the one' })
    await expect(wrong).rejects.toThrow('The email or the password is wrong.')
    const unknown = mintConsoleToken({
      issuer: login.issuer,
      email: 'nobody@example.test',
      password: PASSWORD,
    })
    await expect(unknown).rejects.toThrow('The email or the password is wrong.')
  })

  it('stops guessing after eight failures, even with the right password', async () => {
    await createUser(login.dataDir, 'target@example.test', 'the right password')
    const guess = (password: string) =>
      mintConsoleToken({ issuer: login.issuer, email: 'target@example.test', password })
    for (let attempt = 0; attempt < 8; attempt++) {
      await expect(guess(`wrong ${attempt}`)).rejects.toThrow('HTTP 401')
    }
    await expect(guess('the right password')).rejects.toThrow('HTTP 429')
  }, 120_000)

  it('refuses a request without PKCE', async () => {
    const url = authorizeUrl()
    url.searchParams.delete('code_challenge')
    url.searchParams.delete('code_challenge_method')
    const response = await fetch(url, { redirect: 'manual' })
    expect(response.headers.get('location')).toContain('error=invalid_request')
  })

  it('never redirects to an address that is not registered', async () => {
    const response = await fetch(authorizeUrl({ redirect_uri: 'https://evil.example/callback' }), {
      redirect: 'manual',
    })
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
  })

  it('issues no token for another resource', async () => {
    const response = await fetch(authorizeUrl({ resource: 'urn:other' }), { redirect: 'manual' })
    expect(response.headers.get('location')).toContain('error=invalid_target')
  })

  it("does not show one browser's interaction to another", async () => {
    const response = await fetch(authorizeUrl(), { redirect: 'manual' })
    const location = response.headers.get('location') ?? ''
    const stranger = await fetch(new URL(location, login.issuer), { redirect: 'manual' })
    expect(stranger.status).toBe(400)
  })

  it('serves pages that run no script and can be framed by nobody', async () => {
    const response = await fetch(authorizeUrl({ client_id: 'nobody' }), { redirect: 'manual' })
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(await response.text()).not.toContain('<script')
  })

  it('lets a page at the redirect address exchange its code, and no other page', async () => {
    const exchange = (origin: string) =>
      fetch(`${login.issuer}/token`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: 'countersign-console',
          redirect_uri: 'http://127.0.0.1:4321/console/callback',
          code: 'none',
          code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
        }),
      })
    const own = await exchange('http://127.0.0.1:4321')
    expect(own.headers.get('access-control-allow-origin')).toBe('http://127.0.0.1:4321')
    expect(await own.json()).toMatchObject({ error: 'invalid_grant' })
    const other = await exchange('https://evil.example')
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('writes no password, token or key to the log', async () => {
    const token = await mintConsoleToken({ issuer: login.issuer, email: EMAIL, password: PASSWORD })
    expect(login.logged()).toContain('login succeeded')
    expect(login.logged()).not.toContain(PASSWORD)
    expect(login.logged()).not.toContain(token)
  })

  it.each(['login-keys.json', 'login.mdb', 'issuer.json'])(
    'keeps %s readable by its owner alone',
    (name) => {
      expect(statSync(join(login.dataDir, name)).mode & 0o077).toBe(0)
    },
  )
})

describe('restarting', () => {
  it('keeps signing key, accounts and subject', async () => {
    const first = await runLogin({ port: await freePort() })
    const user = { email: EMAIL, password: PASSWORD }
    const before = await mintConsoleToken({ issuer: first.issuer, ...user })
    await first.close()
    const port = Number(new URL(first.issuer).port)
    const second = await startLogin({
      port,
      host: '127.0.0.1',
      dataDir: first.dataDir,
      audience: AUDIENCE,
      mode: 'live',
      log: pino({ level: 'silent' }),
    })
    try {
      const verifier = createConsoleTokenVerifier({
        issuer: second.issuer,
        audience: AUDIENCE,
        jwksUrl: second.jwksUrl,
      })
      expect(await verifier.verify(`Bearer ${before}`)).toEqual({
        ok: true,
        value: expect.anything(),
      })
      const after = await mintConsoleToken({ issuer: second.issuer, ...user })
      expect(claimsOf(after).sub).toBe(claimsOf(before).sub)
    } finally {
      await second.close()
    }
  })

  it('refuses a dev user in live mode', async () => {
    await expect(runLogin({ mode: 'live' })).rejects.toThrow('dev mode only')
  })

  it('refuses a public issuer without TLS', async () => {
    await expect(runLogin({ publicIssuer: 'http://id.example' })).rejects.toThrow('https')
  })
})
