import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { inviteUser, listUsers } from '../../src/identity-provider/login/create-user.js'
import { type RunningLogin, runLogin } from './login-fixture.js'

const EMAIL = 'grace@example.test'
const FIRST = 'a first long password'
const SECOND = 'a second long password'

let login: RunningLogin
beforeAll(async () => {
  login = await runLogin()
})
afterAll(() => login?.stop())

function redeem(code: string, password: string): Promise<Response> {
  const body = new URLSearchParams({ code, password })
  return fetch(`${login.issuer}/enrol`, { method: 'POST', body })
}

const signIn = (password: string) =>
  mintConsoleToken({ issuer: login.issuer, email: EMAIL, password })

describe('an invited person', () => {
  test('chooses a password with the code of the link, which is good once', async () => {
    const { user, code } = await inviteUser(login.dataDir, EMAIL, 'first')
    expect((await redeem(`${code}x`, FIRST)).status).toBe(400)
    const short = await redeem(code, 'short')
    expect(short.status).toBe(400)
    // What was typed is kept for the next try.
    expect(await short.text()).toContain(code)
    const chosen = await redeem(code, FIRST)
    expect(chosen.status, await chosen.text()).toBe(200)
    expect(await signIn(FIRST)).toMatch(/^ey/)
    expect((await redeem(code, SECOND)).status).toBe(400)
    await expect(signIn(SECOND)).rejects.toThrow('wrong')
    const users = await listUsers(login.dataDir)
    expect(users.map(({ userId }) => userId)).toContain(user.userId)
    expect(JSON.stringify(users)).not.toContain('argon')
    expect(login.logged()).not.toContain(code)
  })

  test('who is invited again keeps the password until the newest code is used', async () => {
    await expect(inviteUser(login.dataDir, EMAIL, 'first')).rejects.toThrow('exists')
    await expect(inviteUser(login.dataDir, 'no@example.test', 'again')).rejects.toThrow(
      'no account',
    )
    const earlier = await inviteUser(login.dataDir, EMAIL, 'again')
    const newest = await inviteUser(login.dataDir, EMAIL, 'again')
    expect(await signIn(FIRST)).toMatch(/^ey/)
    expect((await redeem(earlier.code, SECOND)).status).toBe(400)
    expect((await redeem(newest.code, SECOND)).status).toBe(200)
    expect(await signIn(SECOND)).toMatch(/^ey/)
    await expect(signIn(FIRST)).rejects.toThrow('wrong')
  })
})

test('the page takes the code from the fragment, by the one script it may run', async () => {
  const page = await fetch(`${login.issuer}/enrol`)
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  const [, script] = /<script src="([^"]+)"/.exec(await page.text()) ?? []
  const served = await fetch(`${login.issuer}${script}`)
  expect(served.headers.get('content-type')).toContain('text/javascript')
  expect(await served.text()).toContain('location.hash')
})
