import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSignInBrowser } from '../support/sign-in-browser.js'
import { connectAuthorizers, issuerOf } from './authorizer-client.js'
import { type Quorum, startQuorum, USER, WEBAUTHN } from './harness.js'

let quorum: Quorum

beforeAll(async () => {
  quorum = await startQuorum()
  const origin = WEBAUTHN.origins[0] ?? ''
  const client = await connectAuthorizers(quorum.home, USER, { rpId: WEBAUTHN.rp_id, origin })
  await client.addPasskey()
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
