import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createCookieJar } from '../../scripts/dev/cookie-jar.js'
import { signInMessage } from '../../src/identity-provider/authorizers/ceremonies.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { createSignInBrowser } from '../support/sign-in-browser.js'
import { createSoftwareAuthenticator } from '../support/software-authenticator.js'
import { connectAuthorizers, issuerOf, type Passkey } from './authorizer-client.js'
import { type Quorum, startQuorum, USER, WEBAUTHN } from './harness.js'

let quorum: Quorum

let passkey: Passkey

beforeAll(async () => {
  quorum = await startQuorum()
  const origin = WEBAUTHN.origins[0] ?? ''
  const client = await connectAuthorizers(quorum.home, USER, { rpId: WEBAUTHN.rp_id, origin })
  passkey = await client.addPasskey()
})
afterAll(() => quorum?.close())

describe('the command line', () => {
  test('signs in through the browser, with a token the wallet service never sees', async () => {
    const child = spawn(
      process.execPath,
      ['dist/src/cli/main.js', 'authorizer', 'list', '--json'],
      {
        env: {
          PATH: process.env.PATH,
          COUNTERSIGN_HOME: join(quorum.home, 'no-instance'),
          COUNTERSIGN_ISSUER: issuerOf(quorum.home),
          XDG_CONFIG_HOME: join(quorum.home, 'config'),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const ended = new Promise((resolve) => child.once('close', resolve))
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    try {
      await vi.waitFor(() => expect(err).toMatch(/http\S+\n/), { timeout: 60_000 })
      await createSignInBrowser(USER).open(/http\S+/.exec(err)?.[0] ?? '')
      await ended
    } finally {
      child.kill('SIGKILL')
    }
    expect(JSON.parse(out).authorizers).toMatchObject([{ label: 'a passkey', here: 'no' }])
  })
})

describe('a page asked for at another address', () => {
  test('leads to the origin where the passkeys live', async () => {
    const page = await fetch(`${issuerOf(quorum.home)}/authorizers`, { redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      `${WEBAUTHN.origins[0]}/authorizers`,
    ])
    const broken = await fetch(`${issuerOf(quorum.home)}/authorizers/api/begin`)
    expect(broken.status).toBe(405)
  })
})

/** A browser at the sign-in page of a new sign-in of the console's. */
async function atSignIn() {
  const issuer = issuerOf(quorum.home)
  const jar = createCookieJar()
  async function send(url: URL, form: URLSearchParams | null = null): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: jar.header(url) },
      ...(form === null ? {} : { method: 'POST', body: form }),
    })
    jar.store(response.headers.getSetCookie(), url)
    return response
  }
  const start = new URL(`${issuer}/auth`)
  start.search = new URLSearchParams({
    ...{ client_id: 'countersign-console', response_type: 'code', scope: 'openid console' },
    redirect_uri: 'http://127.0.0.1:4321/console/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }).toString()
  const first = await send(start)
  const page = new URL(first.headers.get('location') ?? '', issuer)
  const id = page.pathname.split('/').at(-1) ?? ''
  return {
    send,
    challenge: sha256(signInMessage(id)).toString('base64url'),
    submit: (assertion: object, handle = quorum.userId) =>
      send(
        new URL(`${page.pathname}/passkey`, issuer),
        new URLSearchParams({
          credential_id: passkey.authenticator.credentialId,
          user_handle: Buffer.from(handle).toString('base64url'),
          ...assertion,
        }),
      ),
  }
}

describe('a passkey that confirms grants', () => {
  test('signs its user in, once, and for that sign-in alone', async () => {
    const browser = await atSignIn()
    const assertion = passkey.authenticator.assert(browser.challenge)
    const other = await atSignIn()
    expect((await other.submit(assertion)).status).toBe(401)

    const signedIn = await browser.submit(assertion)
    expect(signedIn.status, await signedIn.text()).toBe(303)
    const resumed = await browser.send(new URL(signedIn.headers.get('location') ?? ''))
    const consent = new URL(resumed.headers.get('location') ?? '', signedIn.url)
    const html = await (await browser.send(consent)).text()
    expect(html).toContain(`Signed in as ${USER.email}`)
    expect((await browser.submit(assertion)).status).toBe(400)
  })

  test('signs nobody in by another passkey, for another user, unverified, or by nothing', async () => {
    const { challenge, submit } = await atSignIn()
    const { authenticator } = passkey
    const stranger = createSoftwareAuthenticator({
      rpId: WEBAUTHN.rp_id,
      origin: WEBAUTHN.origins[0] ?? '',
    })
    const tries = [
      submit(stranger.assert(challenge)),
      submit({ ...stranger.assert(challenge), credential_id: stranger.credentialId }),
      submit(authenticator.assert(challenge), 'user_00000000000000000000000001'),
      submit(authenticator.assert(challenge, { userVerified: false })),
      submit(authenticator.assert(challenge, { origin: 'https://evil.example' })),
      submit({}),
    ]
    for (const answer of await Promise.all(tries)) {
      expect([401, 429]).toContain(answer.status)
      expect(answer.headers.get('location')).toBeNull()
    }
  })
})
