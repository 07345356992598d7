import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Address, ulidBody } from '../../src/domain/ids.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { issuerOf } from '../custody/authorizer-client.js'
import { countersignOk } from '../custody/command.js'
import { give } from '../defi/sponsored-wallet.js'
import { chainView } from '../e2e/chain.js'
import { type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'
import { type Browser, startBrowser } from './browser.js'
import { connectAgent } from './waiting-agent.js'

/**
 * The passkey pages in a real browser, with the browser's own virtual authenticator: what the
 * pages' script asks of `navigator.credentials` is what a browser gives it.
 */
const PERSON = { email: 'person@example.test', password: randomBytes(12).toString('hex') }

const CHAIN_ID = 8453
const LARGE = 'large payments'
const ABOVE = { value_native_gt: '1000000' }
const ASKED_WEI = '1000001'
/** The page is open by then, also on a busy machine. */
const EXPIRES_SECONDS = 15

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
  const { json } = await person.post('/wallets', { name: 'mine' })
  walletId = String(json.sub_wallet_id)
  await give(stack, CHAIN_ID, json.addresses?.evm as Address, '1', 'native')
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

async function asked(daily: string, more: object = {}) {
  const refused: ReplyBody = (await person.post('/keys', { ...wish(daily), ...more })).json
  const { details } = refused.error as { details: Record<string, unknown> }
  return { url: String(details.confirm_url), authorization_id: details.authorization_id }
}

/** With a key of its own, which the person confirms in the browser. */
async function agentWith(daily: string, approvals: object) {
  const rules = [{ name: LARGE, effect: 'require_approval', when: ABOVE, approvals }]
  const policy = { rules, default: 'allow' }
  const { url, authorization_id } = await asked(daily, { policy })
  await browser.open(url)
  await browser.click('#confirm')
  await browser.until('document.querySelector("#status").textContent.startsWith("Confirmed")')
  const body = { ...wish(daily), policy, authorization: { authorization_id } }
  const made = await person.post('/keys', body)
  const secret = String(made.json.secret)
  const agent = await connectAgent(stack, secret)
  return {
    ...agent,
    reserved: async () => (await stack.service.api(secret).get('/api/limits')).json.reserved_usd,
    async becomes(txId: string, status: string) {
      return vi.waitFor(
        async () => {
          const record = await agent.status(txId)
          expect(record.status).toBe(status)
          return record
        },
        { timeout: 60_000, interval: 200 },
      )
    },
  }
}

/** By the rules of axe, what is serious. */
async function keepsPeopleOut(): Promise<unknown> {
  // Not as a script of the page: its policy would block that, and rightly.
  await browser.evaluate(axe.source)
  return browser.evaluate(`axe.run(document).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help }) => [id, help]))`)
}

/** Until the page of one's authorizers. */
async function consentWhereAsked(): Promise<void> {
  await browser.until('document.querySelector("#add, form[action$=consent]")')
  if (await browser.evaluate('document.querySelector("#add") === null')) {
    await browser.click('form[action$=consent] button')
  }
  await browser.until('document.querySelector("#add")')
}

describe('in a browser', () => {
  test('signing in leads to the page of one’s authorizers, at the origin of passkeys', async () => {
    await browser.open(`http://127.0.0.1:${port}/authorizers`)
    await browser.until('document.querySelector("#password")')
    await browser.evaluate(`document.querySelector('#email').value = '${PERSON.email}'`)
    await browser.evaluate(`document.querySelector('#password').value = '${PERSON.password}'`)
    await browser.click('button[type=submit]')
    await consentWhereAsked()
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

  test('it signs its user in, without a password', async () => {
    await browser.open(`${origin}/session/end`)
    await browser.click('button[name=logout]')
    await browser.until('document.body.innerText.includes("Signed out")')
    await browser.open(`${origin}/authorizers`)
    await browser.until('document.querySelector("#passkey:not([hidden])")')
    await browser.click('#passkey button')
    await consentWhereAsked()
    expect(await browser.evaluate('document.body.innerText')).toContain('Phone (passkey')
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
    await browser.until('/^\\d:\\d\\d$/.test(document.querySelector("[role=timer]").textContent)')
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

  test('on a phone one reads what an agent asks for, approves it, and it is confirmed on chain', async () => {
    const agent = await agentWith('9', { needed: 1, expires_seconds: 600 })
    await browser.resize(390, 844)
    const { tx_id } = await agent.pay(ASKED_WEI, async (url) => {
      expect(new URL(url).origin).toBe(origin)
      await browser.open(url)
      await browser.until('document.querySelector("#approve-call")')
      const text = await browser.evaluate('document.body.innerText')
      for (const said of [LARGE, '0 of 1', 'Base', '0.000000000001000001 ETH', 'Time left']) {
        expect(text).toContain(said)
      }
      const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      expect(await browser.evaluate(isWide)).toBe(false)
      expect(await keepsPeopleOut()).toEqual([])
      await browser.click('#approve-call')
      await browser.until('document.body.innerText.includes("1 of 1: Phone")')
    })
    const record = await agent.becomes(tx_id, 'confirmed')
    expect(record.tx_hash).toMatch(/^0x/)
    const view = chainView(stack.service.dev(), CHAIN_ID)
    expect(await view.call('eth_getTransactionReceipt', [record.tx_hash])).toMatchObject({
      status: '0x1',
    })
    await agent.close()
  })

  test('a link that is followed before the call is heard of shows it once it is', async () => {
    const url = `${origin}/approve/apr_${ulidBody(Date.now(), randomBytes(10))}`
    await browser.open(url)
    await browser.until('document.body.innerText.includes("Not here yet")')
    await browser.evaluate('window.isFirst = true')
    await browser.until('window.isFirst !== true && document.body.innerText.includes("Not here")')
  })

  test('or declines it with a reason that the agent gets', async () => {
    const agent = await agentWith('10', { needed: 1, expires_seconds: 600 })
    const { tx_id } = await agent.pay(ASKED_WEI, async (url) => {
      await browser.open(url)
      await browser.until('document.querySelector("#decline-call")')
      await browser.evaluate('document.querySelector("#comment").value = "Not this month"')
      await browser.click('#decline-call')
      await browser.until('document.body.innerText.includes("declined at")')
      expect(await browser.evaluate('document.querySelector("button")')).toBeNull()
    })
    expect(await agent.becomes(tx_id, 'declined')).toMatchObject({
      ...{ tx_hash: null, error: { message: 'Not this month' } },
    })
    expect(await agent.reserved()).toBe('0.00')
    await agent.close()
  })

  test('one that nobody decides expires, the open page says so, and nothing is held', async () => {
    const agent = await agentWith('11', { needed: 1, expires_seconds: EXPIRES_SECONDS })
    const { tx_id } = await agent.pay(ASKED_WEI, async (url) => {
      expect(await agent.reserved()).not.toBe('0.00')
      await browser.open(url)
      await browser.until('document.querySelector("#approve-call")')
      await browser.until('document.body.innerText.includes("expired")')
      expect(await browser.evaluate('document.querySelector("button")')).toBeNull()
    })
    expect(await agent.becomes(tx_id, 'expired')).toMatchObject({ tx_hash: null })
    expect(await agent.reserved()).toBe('0.00')
    await agent.close()
    await browser.resize(1_280, 800)
  })

  test('the pages broke none of their own policy, and both logs prove it all', async () => {
    expect(browser.complaints).toEqual([])
    const output = await countersignOk(stack.service.home, ['verify-audit'])
    expect(output).toContain('✓ both logs are whole and agree')
  })
})
