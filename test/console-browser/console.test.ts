import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issuerOf } from '../custody/authorizer-client.js'
import { newAddress } from '../e2e/chain.js'
import { type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { seriousFindings } from './findings.js'
import { MARKUP, type Planted, plantNames } from './hostile-names.js'
import {
  choose,
  fillIn,
  heading,
  loaded,
  pressOn,
  pressWords,
  says,
  settled,
  signIn,
  visit,
} from './keyboard.js'
import { shoot } from './views.js'

/**
 * The console in a real browser, against the whole stack, by the keyboard only (`npm run test:long --
 * console`; with `--short` without what takes long: dark colours, narrow windows, and the service
 * killed).
 */
const IS_SHORT = process.env.CONSOLE_SHORT === '1'

const PAGES = [
  ['/', 'Overview'],
  ['/approvals', 'Approvals'],
  ['/keys', 'Agents & keys'],
  ['/transactions', 'Transactions'],
  ['/wallets', 'Wallets'],
  ['/webhooks', 'Webhooks & alerts'],
  ['/audit', 'Audit'],
  ['/members', 'Members'],
  ['/lists', 'Lists'],
  ['/operations', 'Operations'],
  ['/playground', 'Playground'],
] as const
const VIEWS = (IS_SHORT ? [1_280] : [1_280, 390]).flatMap((width) =>
  (IS_SHORT ? (['light'] as const) : (['light', 'dark'] as const)).map(
    (scheme) => [width, scheme] as const,
  ),
)

/** What the console's pages ask the service for, over all of them. */
const NOTE_REQUESTS = `(() => {
  if (!location.pathname.startsWith('/console')) return
  const plain = window.fetch.bind(window)
  window.fetch = (input, init) => {
    const url = new URL(input, location.href)
    if (url.origin === location.origin) {
      const asked = new Set(JSON.parse(localStorage.getItem('asked') ?? '[]'))
      asked.add((init?.method ?? 'GET').toLowerCase() + ' ' + url.pathname)
      localStorage.setItem('asked', JSON.stringify([...asked]))
    }
    return plain(input, init)
  }
})()`

let stack: Stack
let browser: Browser
let planted: Planted
let startedAtMs: number
let secret: string
beforeAll(async () => {
  browser = await startBrowser()
  await browser.runFirst(NOTE_REQUESTS)
  startedAtMs = performance.now()
  stack = await startStack()
  // While no passkey has to confirm what each of them is called.
  planted = await plantNames(stack)
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

const consoleUrl = () => `${stack.service.dev().base_url}/console`

describe('from the start to a first approved send, by the keyboard alone', () => {
  test('a person signs in', async () => {
    await browser.resize(1_280, 800)
    await browser.open(consoleUrl())
    await browser.until(`document.querySelector('#email') !== null`)
    await shoot(browser, 'sign-in')
    await signIn(browser, stack.service.dev().user, heading('Overview'))
    expect(await browser.evaluate('location.pathname')).toBe('/console/')
  })

  test('makes a key for an agent, from a template that asks for new payees', async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await pressWords(browser, 'New key')
    await fillIn(browser, 'dialog input[name=name]', 'First agent')
    // Of two wallets that are there.
    await choose(browser, 'dialog select[name=wallet]', stack.service.dev().sub_wallet_id)
    await choose(browser, 'dialog select[name=template]', 'ask-new')
    await says(browser, 'wait until you approve', 'dialog')
    await pressWords(browser, 'Make the key', 'dialog')
    await says(browser, 'Copy it now.', 'dialog')
    secret = String(
      await browser.evaluate(`document.querySelector('dialog .secret code').innerText`),
    )
    expect(secret).toMatch(/^sk_test_/)
    await pressWords(browser, 'I have copied it', 'dialog')
    await says(browser, 'new payees asks; otherwise allowed')
  })

  test('sends with it by hand, which waits', async () => {
    await visit(browser, '/wallets', 'Wallets')
    const own = stack.service.dev().sub_wallet_id
    await choose(browser, 'main .filters legend + label select', own)
    await fillIn(browser, 'input[name=secret]', secret)
    await browser.press('Enter')
    await fillIn(browser, 'form[aria-label="Send"] input[inputmode]', '0.001')
    await fillIn(browser, 'form[aria-label="Send"] input[pattern^="0x"]', newAddress())
    await browser.press('Enter')
    await says(browser, 'It waits for approval: new payees.')
    await pressOn(browser, 'form[aria-label="Send"] .primary')
    await says(browser, 'awaiting approval')
  })

  test('gets a first passkey on the way, approves with it, and it is confirmed', async () => {
    const hrefOf = async (words: string) => {
      const link = `[...document.querySelectorAll('a')].find((it) => it.innerText === '${words}')`
      await browser.until(`${link} !== undefined`)
      return String(await browser.evaluate(`${link}.href`))
    }
    await pressOn(browser, '.account-button')
    const passkeys = await hrefOf('Your passkeys')
    await browser.press('Escape')
    const device = await browser.openTab()
    await device.addAuthenticator()
    await device.open(passkeys)
    await signIn(device, stack.service.dev().user, loaded('#add'))
    await pressOn(device, '#add')
    await device.until(`document.body.innerText.includes('(passkey')`)
    await visit(browser, '/approvals', 'Approvals')
    await pressWords(browser, 'Approve')
    await device.open(await hrefOf('Confirm with your passkey'))
    await device.until(loaded('#approve-call'))
    await shoot(device, 'approve')
    await pressOn(device, '#approve-call')
    await device.until(`document.body.innerText.includes('1 of 1')`)
    await says(browser, 'Nothing waits for you')

    await visit(browser, '/transactions', 'Transactions')
    await browser.until(`document.querySelector('main table')?.innerText.includes('confirmed')`)
    const seconds = (performance.now() - startedAtMs) / 1_000
    process.stdout.write(`from the start to a first approved send: ${seconds.toFixed(1)} s\n`)
    // Of a machine that has nothing else to do.
    if (process.env.CONSOLE_TIMED === '1') expect(seconds).toBeLessThan(60)
    await pressOn(browser, 'main tbody a[href*="/transactions/"]')
    await browser.until(heading('Transaction'))
    await browser.until(`document.querySelector('.timeline')?.innerText.includes('Approved')`)
  })

  test('every page is reached', async () => {
    for (const [path, title] of PAGES) {
      await visit(browser, path, title)
      expect(await browser.evaluate('location.pathname')).toBe(`/console${path}`)
    }
  })
})

describe('names and notes of anybody', () => {
  /** Also those that are reached from another page alone. */
  const places = () => [
    ...PAGES.map(([path]) => path),
    '/approvals?status=all',
    '/audit?type=send.refused',
    '/transactions?status=refused',
    `/transactions/${planted.txId}`,
    `/keys/${planted.keyId}/policy`,
    `/webhooks/${planted.webhookId}`,
  ]

  test('are shown as text, on every page', async () => {
    for (const path of places()) {
      await browser.open(`${consoleUrl()}${path}`)
      await browser.until(`document.querySelector('h1') !== null`)
      await settled(browser)
      expect(await browser.evaluate('window.ran ?? null'), path).toBeNull()
      const made = `document.querySelectorAll('main img, main script, main svg[onload]').length`
      expect(await browser.evaluate(made), path).toBe(0)
    }
  })

  test.each([
    ['/wallets', 'a wallet, and why it is frozen'],
    ['/keys', 'a key, and why it is frozen'],
    ['/approvals?status=all', 'a rule, and why a call was declined'],
    ['/webhooks', 'what an endpoint is for'],
    ['/lists', 'a rule for an address'],
  ])('are there to be shown: at %s %s', async (path) => {
    await browser.open(`${consoleUrl()}${path}`)
    await says(browser, MARKUP)
  })

  test('are text on the page that asks for a passkey', async () => {
    const { owner } = stack
    const body = { daily_limit_usd: '2000000', monthly_limit_usd: '2000000' }
    const asked = await owner.call('PATCH', `/keys/${planted.keyId}`, { body })
    expect(asked.code, asked.text).toBe('AUTHORIZATION_REQUIRED')
    const device = await browser.openTab()
    await device.open(String(asked.json.error?.details?.confirm_url))
    await device.until(`document.querySelector('#confirm') !== null`)
    expect(await device.evaluate('document.body.innerText')).toContain(MARKUP)
    expect(await device.evaluate('window.ran ?? null')).toBeNull()
  })
})

describe.each(VIEWS)('at %i pixels in %s colours', (width, scheme) => {
  test.each(PAGES)('%s keeps nobody out and fits the window', async (path, title) => {
    await browser.resize(width, 800)
    await browser.setColorScheme(scheme)
    await browser.open(`${consoleUrl()}${path}`)
    await browser.until(heading(title))
    await settled(browser)
    expect(
      await browser.evaluate('document.documentElement.scrollWidth'),
      'wider than the window',
    ).toBeLessThanOrEqual(width)
    const spilt = `[...document.querySelectorAll('.card *, .table *')]
      .filter((it) => it.getBoundingClientRect().right > it.closest('.card, main').getBoundingClientRect().right + 1)
      .filter((it) => !it.closest('.hidden, pre'))
      .map((it) => it.outerHTML.slice(0, 200))`
    expect(await browser.evaluate(spilt)).toEqual([])
    await shoot(browser, `${title.replaceAll(/\W+/g, '-').toLowerCase()}-${width}-${scheme}`)
    expect(await seriousFindings(browser)).toEqual([])
  })
})

describe('in more tabs than one', () => {
  test('who signs out in one is signed out in the other', async () => {
    await browser.resize(1_280, 800)
    await browser.open(consoleUrl())
    await browser.until(heading('Overview'))
    const other = await browser.openTab()
    await other.resize(1_280, 800)
    await other.open(`${consoleUrl()}/keys`)
    await other.until(heading('Agents & keys'))
    await pressOn(other, '.account-button')
    await other.until(`document.querySelector('#account:popover-open') !== null`)
    await pressOn(other, '#account button')
    await browser.until(heading('Not signed in'))
    expect(await browser.evaluate('document.body.innerText')).toContain('in another tab')
  })
})

function describeKilled(): void {
  test('the console goes on when the service was killed and is back', async () => {
    await browser.open(consoleUrl())
    await browser.evaluate('sessionStorage.clear()')
    await browser.open(consoleUrl())
    await browser.until(`${heading('Overview')} || document.querySelector('#email') !== null`)
    if (await browser.evaluate(`document.querySelector('#email') !== null`)) {
      await signIn(browser, stack.service.dev().user, heading('Overview'))
    }
    await settled(browser)
    await stack.service.killAndAwaitRestart('service')
    await visit(browser, '/keys', 'Agents & keys')
    await browser.until(`document.querySelector('main')?.innerText.includes('sk_test')`)
  })
}
if (!IS_SHORT) describe('when the service is killed', describeKilled)

test('no page asked for anything that the document of the API does not have', async () => {
  const base = stack.service.dev().base_url
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const itself = /^get [/]openapi[.]json$/
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const segments = path.split('/').map((one) => (one.startsWith('{') ? '[^/]+' : one))
      return new RegExp(`^${method} ${segments.join('/').replaceAll('.', '[.]')}$`)
    }),
  )
  const documented = [itself, ...operations]
  // Signed in or not: what was noted belongs to the address.
  await browser.open(consoleUrl())
  await browser.until(`document.readyState === 'complete'`)
  const asked = JSON.parse(
    String(await browser.evaluate(`localStorage.getItem('asked')`)),
  ) as string[]
  expect(asked).toContain('post /api/v1/agent/keys')
  expect(asked).toContain('post /api/tx/send')
  expect(asked.filter((one) => !documented.some((pattern) => pattern.test(one)))).toEqual([])
})

test('nothing that the policies of the pages block was tried', () => {
  expect(issuerOf(stack.service.home)).toMatch(/^http:/)
  const blocked = browser.complaints.filter((text) => /policy|exception/i.test(text))
  expect(blocked).toEqual([])
})
