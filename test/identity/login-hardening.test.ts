import { rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { createCookieJar } from '../../scripts/dev/cookie-jar.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { readAssertion } from '../../src/identity-provider/login/passkey-sign-in.js'
import { type Login, startLogin } from '../../src/identity-provider/login/start-login.js'
import { atOnce } from '../support/at-once.js'
import { AUDIENCE, EMAIL, PASSWORD, type RunningLogin, runLogin } from './login-fixture.js'

/** More than wait for a comparison at once. */
const STRANGERS = 60
/** Fewer than the identity provider has places for one address. */
const AT_ONCE = 40

let login: RunningLogin
beforeAll(async () => {
  login = await runLogin()
})
afterAll(() => login.stop())

const AUTHORIZE = {
  client_id: 'countersign-console',
  response_type: 'code',
  scope: 'openid email console',
  redirect_uri: 'http://127.0.0.1:4321/console/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  prompt: 'login',
}

/** A browser that signs in again and again, keeping its cookies. */
function browser() {
  const jar = createCookieJar()
  async function open(url: URL, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: jar.header(url) },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    })
    jar.store(response.headers.getSetCookie(), url)
    return response
  }
  return {
    jar,
    /** @returns status of the answer to the form: 303 for who is in */
    async signIn(email: string, password: string): Promise<number> {
      const url = new URL(`${login.issuer}/auth?${new URLSearchParams(AUTHORIZE)}`)
      const location = (await open(url)).headers.get('location') ?? ''
      const form = new URL(`${location}/login`, login.issuer)
      return (await open(form, { email, password })).status
    },
  }
}

/** With whatever `Host` and headers it is told to; fetch would set its own. */
function get(
  target: string,
  headers: Record<string, string>,
  port = new URL(login.issuer).port,
): Promise<string> {
  const { hostname } = new URL(login.issuer)
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path: target, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}

describe('strangers who guess', () => {
  it('gain nothing by the mark of another account, or by one they made up', async () => {
    const password = 'a password of her own'
    await createUser(login.dataDir, 'grace@example.test', password)
    await createUser(login.dataDir, 'mallory@example.test', password)
    const mallory = browser()
    expect(await mallory.signIn('mallory@example.test', password)).toBe(303)
    for (let i = 0; i < 8; i++) await browser().signIn('grace@example.test', `wrong ${i}`)
    expect(await mallory.signIn('grace@example.test', password)).toBe(429)
    const forger = browser()
    const url = new URL(`${login.issuer}/interaction/x`)
    const mark = `${'A'.repeat(22)}.${'A'.repeat(43)}`
    forger.jar.store([`countersign_device=${mark}; Path=/interaction`], url)
    expect(await forger.signIn('grace@example.test', password)).toBe(429)
  }, 240_000)

  it('keep nobody out of a browser in which they have signed in before', async () => {
    const own = browser()
    expect(await own.signIn(EMAIL, PASSWORD)).toBe(303)
    const flood = atOnce(STRANGERS, AT_ONCE, (i) =>
      browser().signIn(EMAIL, `not the password ${i}`),
    )
    expect(await own.signIn(EMAIL, PASSWORD)).toBe(303)
    const statuses = await flood
    expect(statuses).toContain(429)
    // Locked for strangers now, on whatever grounds; not for its owner.
    expect(await browser().signIn(EMAIL, PASSWORD)).toBe(429)
    expect(await own.signIn(EMAIL, PASSWORD)).toBe(303)
  }, 240_000)
})

test('behind a proxy they are told apart by what it says, and not by what they say of themselves', async () => {
  const issuer = 'https://id.example.com'
  const callback = 'https://w.example.com/console/callback'
  const proxied = await runLogin({ publicIssuer: issuer, consoleRedirectUris: [callback] })
  try {
    const { origin } = new URL(proxied.jwksUrl)
    const guess = async (forwardedFor: string): Promise<number> => {
      const jar = createCookieJar()
      const open = async (url: URL, form?: Record<string, string>): Promise<Response> => {
        const response = await fetch(`${origin}${url.pathname}${url.search}`, {
          redirect: 'manual',
          headers: { cookie: jar.header(url), 'x-forwarded-for': forwardedFor },
          ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
        })
        jar.store(response.headers.getSetCookie(), url)
        return response
      }
      const asked = new URLSearchParams({ ...AUTHORIZE, redirect_uri: callback })
      const location = (await open(new URL(`/auth?${asked}`, issuer))).headers.get('location') ?? ''
      const form = new URL(`${location}/login`, issuer)
      return (await open(form, { email: EMAIL, password: 'not the password' })).status
    }
    const statuses: number[] = []
    for (let at = 0; at < 10; at++) statuses.push(await guess(`198.51.100.${at}, 192.0.2.66`))
    expect(statuses.slice(0, 2)).toEqual([401, 401])
    expect(statuses.at(-1)).toBe(429)
    expect(await guess('192.0.2.77')).toBe(401)
  } finally {
    await proxied.stop()
  }
}, 240_000)

test('a passkey names its user in no more bytes than one has, by which failures are counted', () => {
  const given = (handleBytes: number) => {
    const fields = ['credential_id', 'client_data_json', 'authenticator_data', 'signature']
    const form = new URLSearchParams(fields.map((name) => [name, 'AAAA']))
    form.set('user_handle', Buffer.alloc(handleBytes, 'u').toString('base64url'))
    return readAssertion(form)?.userId.length ?? null
  }
  expect([given(31), given(64), given(65), given(3_000)]).toEqual([31, 64, null, null])
})

describe('strangers at the page that signs out', () => {
  it('leave nothing that ends after the session of a person, which makes room first', async () => {
    const lifeMs = async (url: string) => {
      const cookies = (await fetch(url)).headers.getSetCookie()
      const session = cookies.find((cookie) => cookie.startsWith('_session='))
      return Date.parse(/expires=([^;]+)/.exec(session ?? '')?.[1] ?? '') - Date.now()
    }
    expect(await lifeMs(`${login.issuer}/session/end`)).toBeLessThanOrEqual(600_000)
  })
})

describe('what a request says of its host', () => {
  const DISCOVERY = '/.well-known/openid-configuration'

  it.each([
    ['Host', { host: 'evil.example' }],
    ['Host, by another name of the machine', { host: 'localhost:1' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
    ['an absolute target', {}, `http://evil.example${DISCOVERY}`],
    ['an absolute target and Host', { host: 'evil.example' }, `http://evil.example${DISCOVERY}`],
  ])('moves no endpoint of discovery: %s', async (_what, headers, target = DISCOVERY) => {
    const configuration = JSON.parse(await get(target, headers))
    expect(configuration.issuer).toBe(login.issuer)
    const endpoints = Object.entries(configuration).filter(([name]) =>
      /_endpoint$|_uri$/.test(name),
    )
    expect(endpoints.length).toBeGreaterThan(2)
    for (const [name, url] of endpoints) {
      expect(String(url), name).toMatch(new RegExp(`^${login.issuer}/`))
    }
  })
})

describe('a front of the same machine that passes connections on', () => {
  const publicIssuer = 'http://127.0.0.1:18540'
  const HEADERS = {
    host: 'localhost:18540',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  }

  /** Where the form of the page that signs out goes: the URL is made of what the server believes. */
  async function formTarget(fronted: Pick<Login, 'jwksUrl'>): Promise<string | undefined> {
    const page = await get('/session/end', HEADERS, new URL(fronted.jwksUrl).port)
    return /action="([^"]*)"/.exec(page)?.[1]
  }

  it('may be called localhost in development, and no header of a proxy is believed', async () => {
    const fronted = await runLogin({ publicIssuer })
    const target = await formTarget(fronted).finally(fronted.stop)
    expect(target).toBe('http://localhost:18540/session/end/confirm')
  })

  it('has the one name of its issuer in a live installation', async () => {
    const { dataDir, close } = await runLogin()
    await close()
    const host = '127.0.0.1' as const
    const where = { port: 0, host, dataDir, audience: AUDIENCE, publicIssuer }
    const log = pino({ level: 'silent' })
    const fronted = await startLogin({ ...where, mode: 'live', log })
    const target = await formTarget(fronted).finally(fronted.close)
    rmSync(dataDir, { recursive: true, force: true })
    expect(target).toBe(`${publicIssuer}/session/end/confirm`)
  })
})

describe('the page that signs out', () => {
  it('has a policy that lets its own script run and nothing else, signed in or not', async () => {
    const response = await fetch(`${login.issuer}/session/end`)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    if ((await response.text()).includes('<script'))
      expect(policy).toMatch(/script-src [^;]*'sha256-/)
  })
})

describe('a form that is too large', () => {
  test('is answered, and leaves nothing for the next who asks over that connection', async () => {
    // As a proxy does, for everybody.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (method: string, body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' }
        const asked = httpRequest(`${login.issuer}/enrol`, { method, agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode))
        })
        asked.on('error', reject)
        asked.end(body)
      })
    for (const bytes of [9_000, 200_000]) {
      expect(await ask('POST', `code=${'x'.repeat(bytes)}`)).toBe(413)
      expect(await ask('GET', '')).toBe(200)
    }
    agent.destroy()
  })
})
