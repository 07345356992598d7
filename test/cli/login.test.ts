import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { EMAIL, PASSWORD, type RunningLogin, runLogin } from '../identity/login-fixture.js'
import { createSignInBrowser } from '../support/sign-in-browser.js'

const SERVICE = 'http://127.0.0.1:9'

let login: RunningLogin
let config: string
let path: string

beforeAll(async () => {
  login = await runLogin()
  config = mkdtempSync(join(tmpdir(), 'cs-login-'))
  path = join(config, 'countersign', 'login.json')
})
afterAll(async () => {
  await login?.stop()
  rmSync(config, { recursive: true, force: true })
})

let beforeBrowser = async (_url: string): Promise<void> => undefined

/** Runs a command; what it asks to open in a browser, a person opens. */
async function run(...args: readonly string[]) {
  let out = ''
  let err = ''
  const io: Io = {
    env: { XDG_CONFIG_HOME: config, COUNTERSIGN_HOME: join(config, 'nowhere') },
    out: (said) => {
      out += said
    },
    err: (said) => {
      err += said
      const [url] = /https?:\/\/\S+\/auth\?\S+/.exec(said) ?? []
      if (url !== undefined) {
        const browser = createSignInBrowser({ email: EMAIL, password: PASSWORD })
        void beforeBrowser(url).then(() => browser.open(url))
      }
    },
    isInteractive: false,
  }
  const code = await runProgram(io, args)
  return { code, out, err }
}

describe('login', () => {
  test('keeps the token where its user alone can read it, for this service', async () => {
    expect((await run('wallets', '--url', SERVICE)).err).toContain('countersign login')
    const { code, out, err } = await run('login', '--url', SERVICE, '--issuer', login.issuer)
    expect(code, err).toBe(0)
    const { logins, current } = JSON.parse(readFileSync(path, 'utf8'))
    expect(current).toBe(SERVICE)
    expect(logins[SERVICE].token).toMatch(/^ey/)
    expect(`${out}${err}`).not.toContain(logins[SERVICE].token)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    // It is used: what is missing now is the service.
    expect((await run('wallets')).code).toBe(4)
    expect((await run('wallets', '--url', 'http://127.0.0.1:10')).err).toContain('sign in first')
  })

  test('waits for the browser whatever else asks at its port', async () => {
    const answers: string[] = []
    beforeBrowser = async (url) => {
      const { port } = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
      for (const target of ['//', '/callback?state=guessed&code=guessed']) {
        const stray = connect(Number(port), '127.0.0.1')
        stray.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
        answers.push(await text(stray))
      }
    }
    const { code, err } = await run('login', '--url', SERVICE)
    beforeBrowser = async () => undefined
    expect(code, err).toBe(0)
    expect(answers).toHaveLength(2)
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 404 /)
  })

  test('is not believed once others can read it, and not used once it has ended', async () => {
    await chmod(path, 0o644)
    expect((await run('wallets')).err).toContain('0600')
    await chmod(path, 0o600)
    const file = JSON.parse(readFileSync(path, 'utf8'))
    file.logins[SERVICE].expires_at = '2020-01-01T00:00:00.000Z'
    writeFileSync(path, JSON.stringify(file))
    expect((await run('wallets')).err).toContain('sign in first')
    writeFileSync(path, '{')
    expect((await run('wallets')).err).toContain('is malformed; remove it')
    writeFileSync(path, JSON.stringify(file))
  })

  test('remembers where to sign in again, until it is forgotten', async () => {
    expect((await run('login')).code).toBe(0)
    expect((await run('logout')).out).toContain('true')
    expect(existsSync(path)).toBe(true)
    expect(readFileSync(path, 'utf8')).not.toContain('ey')
    expect((await run('login')).err).toContain('--issuer')
  })
})
