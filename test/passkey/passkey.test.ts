import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { issuerOf } from '../custody/authorizer-client.js'
import { countersignOk } from '../custody/command.js'
import { subjectOf, waitingPayment } from '../custody/waiting-call.js'
import { type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'
import { type Browser, startBrowser } from './browser.js'

/**
 * The passkey pages in a real browser, with the browser's own virtual authenticator: what the
 * pages' script asks of `navigator.credentials` is what a browser gives it.
 */
const PERSON = { email: 'person@example.test', password: randomBytes(12).toString('hex') }

/** Until the devices have changed places. */
const PAUSE_BEFORE_ASSERTION = `
  const get = navigator.credentials.get.bind(navigator.credentials)
  navigator.credentials.get = async (options) => {
    await new Promise((resolve) => {
      window.goOn = resolve
      window.isAsking = true
    })
    return get(options)
  }`

let stack: Stack
let browser: Browser
let person: HttpClient
let origin: string
let port: string
let walletId: string
let phone: string

beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  const { home } = stack.service
  await createUser(join(home, 'identity-provider'), PERSON.email, PERSON.password)
  person = stack.service.console(await stack.service.token(PERSON))
  port = new URL(issuerOf(home)).port
  origin = `http://localhost:${port}`
  walletId = String((await person.post('/wallets', { name: 'mine' })).json.sub_wallet_id)
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

function wish(daily: string) {
  return {
    ...{ name: 'agent', sub_wallet_id: walletId, permission: 'trade' },
    ...{ daily_limit_usd: daily, monthly_limit_usd: '100' },
  }
}

async function asked(daily: string) {
  const refused: ReplyBody = (await person.post('/keys', wish(daily))).json
  const { details } = refused.error as { details: Record<string, unknown> }
  return { url: String(details.confirm_url), authorization_id: details.authorization_id }
}

/** A payment of a new key that waits for two people, and what was decided last. */
async function waitingCall(daily: string) {
  const { url: confirmUrl, authorization_id } = await asked(daily)
  await browser.open(confirmUrl)
  await browser.click('#confirm')
  await browser.until('document.querySelector("#status").textContent.startsWith("Confirmed")')
  const made = await person.post('/keys', { ...wish(daily), authorization: { authorization_id } })
  const token = await stack.service.token(PERSON)
  const key = { keyId: String(made.json.key_id), secret: String(made.json.secret) }
  const of = { userId: subjectOf(token), walletId, ...key }
  const { approvalId, decided } = await waitingPayment(stack.service, of, 2)
  return { url: `${origin}/approve/${approvalId}`, decided }
}

describe('in a browser', () => {
  test('signing in leads to the page of one’s authorizers, at the origin of passkeys', async () => {
    await browser.open(`http://127.0.0.1:${port}/authorizers`)
    await browser.until('document.querySelector("#password")')
    await browser.evaluate(`document.querySelector('#email').value = '${PERSON.email}'`)
    await browser.evaluate(`document.querySelector('#password').value = '${PERSON.password}'`)
    await browser.click('button[type=submit]')
    await browser.until('document.querySelector("#add, form[action$=consent]")')
    if (await browser.evaluate('document.querySelector("#add") === null')) {
      await browser.click('form[action$=consent] button')
    }
    await browser.until('document.querySelector("#add")')
    expect(await browser.evaluate('location.href')).toBe(`${origin}/authorizers`)
    expect(await browser.evaluate('document.body.innerText')).toContain('You have none yet')
  })

  test('a passkey that does not verify its user is not registered, and the page says so', async () => {
    phone = await browser.addAuthenticator()
    await browser.setUserVerified(phone, 'no')
    await browser.click('#add')
    await browser.until('document.querySelector("#status.error")?.textContent.length > 0')
    expect((await person.get('/authorizers')).json.authorizers).toEqual([])
  })

  test('a passkey is registered', async () => {
    await browser.setUserVerified(phone, 'yes')
    await browser.evaluate('document.querySelector("#label").value = "Phone"')
    await browser.click('#add')
    await browser.until('document.body.innerText.includes("Phone (passkey")')
    expect((await person.get('/authorizers')).json).toMatchObject({
      authorizers: [{ kind: 'passkey', label: 'Phone' }],
    })
  })

  test('the same device is not registered twice', async () => {
    await browser.click('#add')
    await browser.until('document.querySelector("#status.error")?.textContent.length > 0')
    expect((await person.get('/authorizers')).json.authorizers).toHaveLength(1)
  })

  test('it confirms a grant that the page shows, and the key is issued', async () => {
    const { url, authorization_id } = await asked('7')
    await browser.open(url)
    await browser.until('document.querySelector("#confirm")')
    const text = await browser.evaluate('document.body.innerText')
    expect(text).toContain('up to 7.00 USD')
    expect(text).toContain(walletId)
    await browser.click('#confirm')
    await browser.until('document.querySelector("#status").textContent.startsWith("Confirmed")')
    expect(await browser.evaluate('document.querySelector("#confirm")')).toBeNull()
    const authorization = { authorization_id }
    const made = await person.post('/keys', { ...wish('7'), authorization })
    expect(made).toMatchObject({ status: 201, json: { authorized_by: 'passkey' } })
    const limits = await stack.service.api(made.json.secret).get('/api/limits')
    expect(limits.json.daily_limit_usd).toBe('7.00')
  })

  test('it confirms nothing when its user does not verify', async () => {
    const { url, authorization_id } = await asked('8')
    await browser.setUserVerified(phone, 'no')
    await browser.open(url)
    await browser.click('#confirm')
    await browser.until('document.querySelector("#status.error")?.textContent.length > 0')
    const authorization = { authorization_id }
    const refused = await person.post('/keys', { ...wish('8'), authorization })
    expect(refused.code).toBe('AUTHORIZATION_REQUIRED')
    await browser.setUserVerified(phone, 'yes')
    await browser.click('#confirm')
    await browser.until('document.querySelector("#status").textContent.startsWith("Confirmed")')
    expect((await person.post('/keys', { ...wish('8'), authorization })).status).toBe(201)
  })

  test('a second passkey is added when the first confirms it, and removed again', async () => {
    await browser.open(`${origin}/authorizers`)
    await browser.until('document.querySelector("#add")')
    // One device at a time: the stick makes its passkey, then the phone confirms it.
    const onPhone = await browser.removeAuthenticator(phone)
    const stick = await browser.addAuthenticator()
    await browser.evaluate(PAUSE_BEFORE_ASSERTION)
    await browser.evaluate('document.querySelector("#label").value = "Stick"')
    await browser.click('#add')
    await browser.until('window.isAsking')
    await browser.removeAuthenticator(stick)
    phone = await browser.addAuthenticator(onPhone)
    await browser.evaluate('window.goOn()')
    await browser.until('document.body.innerText.includes("Stick (passkey")')
    await browser.click('li:last-child button[data-remove]')
    await browser.until('!document.body.innerText.includes("Stick (passkey")')
    expect((await person.get('/authorizers')).json.authorizers).toHaveLength(1)
  })

  test('on a phone one reads a call that waits, and approves it with the passkey', async () => {
    const { url, decided } = await waitingCall('9')
    await browser.resize(390, 844)
    await browser.open(url)
    await browser.until('document.querySelector("#approve-call")')
    const text = await browser.evaluate('document.body.innerText')
    expect(text).toContain('transfer(address,uint256)')
    expect(text).toContain('0 of 2')
    const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
    expect(await browser.evaluate(isWide)).toBe(false)
    await browser.click('#approve-call')
    await browser.until('document.body.innerText.includes("1 of 2: Phone")')
    expect(await decided()).toMatchObject({ decision: 'approve' })
  })

  test('or declines it with a reason that the agent gets', async () => {
    const { url, decided } = await waitingCall('10')
    await browser.open(url)
    await browser.until('document.querySelector("#decline-call")')
    await browser.evaluate('document.querySelector("#comment").value = "Not this month"')
    await browser.click('#decline-call')
    await browser.until('document.body.innerText.includes("declined at")')
    expect(await browser.evaluate('document.querySelector("button")')).toBeNull()
    expect(await decided()).toMatchObject({ decision: 'decline', comment: 'Not this month' })
    await browser.resize(1_280, 800)
  })

  test('the pages broke none of their own policy, and both logs prove it all', async () => {
    expect(browser.complaints).toEqual([])
    const output = await countersignOk(stack.service.home, ['verify-audit'])
    expect(output).toContain('✓ both logs are whole and agree')
  })
})
