import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issuerOf } from '../custody/authorizer-client.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { seriousFindings } from './findings.js'
import { heading, pressOn, settled, signIn, tabTo, visit } from './keyboard.js'
import { shoot } from './views.js'

/**
 * The console in a real browser, against the whole stack, by the keyboard alone (`npm run
 * test:console`; `npm run test:console:short` leaves out what takes long: dark colours, narrow
 * windows, and the service killed).
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
  ['/lists', 'Lists'],
  ['/operations', 'Operations'],
  ['/playground', 'Playground'],
] as const
const VIEWS = (IS_SHORT ? [1_280] : [1_280, 390]).flatMap((width) =>
  (IS_SHORT ? (['light'] as const) : (['light', 'dark'] as const)).map(
    (scheme) => [width, scheme] as const,
  ),
)

/** Each would run, or break out of where it is put, in a page that takes it for markup. */
const HOSTILE = [
  `<img src=x onerror="window.ran='img'">`,
  `"><script>window.ran='script'</script>`,
  `'-(window.ran='quote')-'`,
  `javascript:window.ran='url'`,
  `{{constructor.constructor("window.ran='template'")()}}`,
  `</title></style><svg onload="window.ran='svg'">`,
  '\u202Egnirts desrever\u202C',
  'W'.repeat(60),
]
const RULE = { name: 'large', effect: 'require_approval', when: { value_native_gt: '1000000' } }

let stack: Stack
let browser: Browser
let key: IssuedKey
let startedAtMs: number
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  startedAtMs = performance.now()
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

  test('sees a call that waits, approves it with a passkey, and it is confirmed', async () => {
    key = await issueKey(stack)
    const policy = { rules: [RULE], default: 'allow' }
    const patched = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body: { policy } })
    expect(patched.status, patched.text).toBe(200)
    const call = { chain_id: 137, to: newAddress(), value: '1000001' }
    const sent = await key.api.post('/api/tx/send', call)
    expect(sent.json.status, sent.text).toBe('awaiting_approval')
    await visit(browser, '/approvals', 'Approvals')
    await tabTo(browser, 'main a[href*="/approve/"]')
    const url = String(await browser.evaluate('document.activeElement.href'))

    const device = await browser.openTab()
    await device.addAuthenticator()
    await device.open(`${new URL(url).origin}/authorizers`)
    await signIn(device, stack.service.dev().user, `document.querySelector('#add') !== null`)
    await pressOn(device, '#add')
    await device.until(`document.body.innerText.includes('(passkey')`)
    await device.open(url)
    await device.until(`document.querySelector('#approve-call') !== null`)
    await shoot(device, 'approve')
    await pressOn(device, '#approve-call')
    await device.until(`document.body.innerText.includes('1 of 1')`)
    expect(await finalOf(key.api, sent.json.tx_id)).toMatchObject({ status: 'confirmed' })

    await visit(browser, '/transactions', 'Transactions')
    await browser.until(`document.querySelector('main table')?.innerText.includes('confirmed')`)
    const seconds = (performance.now() - startedAtMs) / 1_000
    process.stdout.write(`to a first approved send: ${seconds.toFixed(1)} s\n`)
    // Of a machine that has nothing else to do.
    if (process.env.CONSOLE_TIMED === '1') expect(seconds).toBeLessThan(60)
    await pressOn(browser, `main a[href$="${sent.json.tx_id}"]`)
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
  test('are shown as text, on every page', async () => {
    const { owner } = stack
    const { sub_wallet_id } = stack.service.dev()
    for (const [index, name] of HOSTILE.entries()) {
      const wallet = await owner.post('/wallets', { name })
      const rule = await owner.post('/address-rules', {
        ...{ address: newAddress(), action: 'block', note: name },
      })
      const url = `https://hooks.example.com/${encodeURIComponent(name)}?${index}`
      const hook = await owner.post('/webhooks', { url, description: name })
      // What a field refuses cannot be shown; a name with markup in it is none of that.
      for (const answer of [wallet, rule, hook]) expect(answer.status).toBeLessThan(500)
      if (name.startsWith('<')) expect(Math.max(wallet.status, rule.status)).toBeLessThan(300)
    }
    const frozen = await owner.post('/freeze', {
      ...{ scope: 'wallet', id: sub_wallet_id, reason: HOSTILE[0] },
    })
    expect(frozen.status, frozen.text).toBeLessThan(300)
    for (const [path, title] of PAGES) {
      await visit(browser, path, title)
      expect(await browser.evaluate('window.ran ?? null')).toBeNull()
      expect(
        await browser.evaluate(`document.querySelectorAll('main img, main script').length`),
      ).toBe(0)
    }
    await visit(browser, '/wallets', 'Wallets')
    await browser.until(`document.querySelector('main')?.innerText.includes('<img src=x')`)
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

test('nothing that the policies of the pages block was tried', () => {
  expect(issuerOf(stack.service.home)).toMatch(/^http:/)
  const blocked = browser.complaints.filter((text) => /policy|exception/i.test(text))
  expect(blocked).toEqual([])
})
