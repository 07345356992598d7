import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newAddress } from '../e2e/chain.js'
import { type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser, type Tab } from '../passkey/browser.js'
import {
  choose,
  fillIn,
  heading,
  loaded,
  openConsole,
  pressOn,
  pressWords,
  says,
  settled,
  signIn,
  tabTo,
  visit,
} from './keyboard.js'
import { expectFit } from './views.js'

/** What a key may, changed by a person with a passkey; and what stops it. By the keyboard alone. */

const ASKS = {
  rules: [{ name: 'all of it', effect: 'require_approval', when: { value_native_gt: '0' } }],
  default: 'allow',
}
/** Longer than a confirmation is good for. */
const LATER_MS = 11 * 60_000

let stack: Stack
let browser: Browser
/** Where the person's passkey is. */
let device: Tab
let key: IssuedKey
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  key = await issueKey(stack, { dailyUsd: '100', monthlyUsd: '1000' })
  const named = { name: 'the treasurer', policy: ASKS }
  const patched = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body: named })
  expect(patched.status, patched.text).toBe(200)
  await openConsole(browser, stack.service.dev())
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

/** Of a link that opens another tab. */
async function hrefOf(words: string, within: string): Promise<string> {
  const link = `[...document.querySelectorAll('${within} a')]
    .find((it) => it.innerText.trim() === '${words}')`
  await browser.until(`${link} !== undefined`)
  return String(await browser.evaluate(`${link}.href`))
}

/** On the page of the identity provider, once what it shows was looked at. */
async function confirm(within: string, look: () => Promise<void> = async () => undefined) {
  await device.open(await hrefOf('Confirm with your passkey', within))
  // The page's script hears the button from then on.
  await device.until(loaded('#confirm'))
  await look()
  await pressOn(device, '#confirm')
  await device.until(`document.querySelector('#status').textContent.startsWith('Confirmed')`)
}

const dialogIsGone = () => browser.until(`document.querySelector('dialog') === null`)
const cardOf = (id: string) => `[...document.querySelectorAll('main .key-card')]
  .find((it) => it.querySelector('[title="${id}"]') !== null)`
const cardSays = (text: string) =>
  browser.until(`${cardOf(key.keyId)}?.innerText.includes(${JSON.stringify(text)}) === true`)

test('the way to one’s passkeys is in the menu of the account', async () => {
  await pressOn(browser, '.account-button')
  const url = await hrefOf('Your passkeys', '#account')
  await browser.press('Escape')
  device = await browser.openTab()
  await device.addAuthenticator()
  await device.resize(1_280, 900)
  await device.open(url)
  await signIn(device, stack.service.dev().user, loaded('#add'))
  await pressOn(device, '#add')
  await device.until(`document.body.innerText.includes('(passkey')`)
})

describe('a key', () => {
  test('is made step by step, confirmed, and its secret comes with what to paste', async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await pressWords(browser, 'New key')
    await fillIn(browser, 'dialog input[name=name]', 'Paymaster')
    await fillIn(browser, 'dialog input[name=daily]', '50')
    await choose(browser, 'dialog select[name=template]', 'known')
    const payee = newAddress()
    await tabTo(browser, 'dialog textarea[name=filled]')
    await browser.type(payee)
    await expectFit(browser, 'key-new')
    await pressWords(browser, 'Make the key', 'dialog')
    await says(browser, 'This must be confirmed with your passkey.', 'dialog')
    await expectFit(browser, 'key-confirmation')
    await confirm('dialog', async () => {
      const text = await device.evaluate('document.body.innerText')
      expect(text).toContain('Paymaster')
      expect(text).toContain('up to 50.00 USD')
      await expectFit(device, 'confirm-new-key')
    })
    await says(browser, 'Copy it now.', 'dialog')
    await says(browser, '"mcpServers"', 'dialog')
    await says(browser, '/api/limits', 'dialog')
    await expectFit(browser, 'key-secret')
    await pressWords(browser, 'I have copied it', 'dialog')
    await says(browser, 'known payees allows; otherwise refused')
  })

  test('is found by how a word of its name begins, which the address of the page says', async () => {
    const cards = (count: number) =>
      browser.until(`document.querySelectorAll('main .key-card').length === ${count}`)
    await fillIn(browser, 'main input[name=search]', 'PAYM')
    await browser.press('Enter')
    await says(browser, '1 found.')
    await cards(1)
    await says(browser, 'Paymaster')
    expect(await browser.evaluate('location.search')).toBe('?search=PAYM')
    await expectFit(browser, 'keys-by-name')
    await fillIn(browser, 'main input[name=search]', 'master')
    await browser.press('Enter')
    await says(browser, 'No key has that name')
    await expectFit(browser, 'keys-by-no-name')
    await pressOn(browser, 'main .state a')
    await says(browser, 'the treasurer')
    expect(await browser.evaluate('location.search')).toBe('')
    await browser.open(`${stack.service.dev().base_url}/console/keys?search=the%20treas`)
    await browser.until(heading('Agents & keys'))
    await cards(1)
    await says(browser, 'the treasurer')
    const field = `document.querySelector('main input[name=search]').value`
    expect(await browser.evaluate(field)).toBe('the treas')
    await fillIn(browser, 'main input[name=search]', ' ')
    await browser.press('Enter')
    await says(browser, 'Paymaster')
  })

  test('gets larger caps when the passkey confirms them, old and new before one', async () => {
    await pressWords(browser, 'Change caps of the treasurer')
    await fillIn(browser, 'dialog .pair label:first-child input', '150')
    await says(browser, '$100.00 → $150.00, an increase that your passkey must confirm', 'dialog')
    await pressWords(browser, 'Change', 'dialog')
    await confirm('dialog', async () => {
      const text = String(await device.evaluate('document.body.innerText'))
      expect(text).toContain('the treasurer')
      expect(text).toMatch(/100\.00 USD.*→.*150\.00 USD/)
      const left = `document.querySelector('[role=timer]').textContent`
      expect(await device.evaluate(left)).toMatch(/^(10:00|9:\d\d)$/)
      expect(await device.evaluate(`document.querySelector('[data-close]') !== null`)).toBe(true)
      await expectFit(device, 'confirm-caps')
    })
    await dialogIsGone()
    await cardSays('$150.00')
    await pressWords(browser, 'Change caps of the treasurer')
    await fillIn(browser, 'dialog .pair label:first-child input', '120')
    await says(browser, '$150.00 → $120.00, at once', 'dialog')
    await pressWords(browser, 'Change', 'dialog')
    await dialogIsGone()
    await cardSays('$120.00')
  })

  test('whose confirmation ran out says so on both pages, and can be asked about again', async () => {
    await pressWords(browser, 'Change caps of the treasurer')
    await fillIn(browser, 'dialog .pair label:first-child input', '140')
    await pressWords(browser, 'Change', 'dialog')
    await device.open(await hrefOf('Confirm with your passkey', 'dialog'))
    await device.until(`document.querySelector('#confirm') !== null`)
    await device.evaluate(`(() => {
      const now = Date.now
      Date.now = () => now() + ${LATER_MS}
    })()`)
    await device.until(`document.body.innerText.includes('none: ask for it again')`)
    expect(await device.evaluate(`document.querySelector('#confirm') === null`)).toBe(true)
    expect(await device.evaluate(`document.querySelector('[data-close]') !== null`)).toBe(true)
    await expectFit(device, 'confirm-expired')
    // What waits for a confirmation is in the service's memory, and ends as it does by the time.
    await stack.service.killAndAwaitRestart('service')
    await says(browser, 'The time to confirm this has expired. Try again.', 'dialog')
    await expectFit(browser, 'confirmation-expired')
    await pressWords(browser, 'Change', 'dialog')
    await confirm('dialog')
    await dialogIsGone()
    await cardSays('$140.00')
  })

  test('has its policy widened once the passkey confirms the difference', async () => {
    await pressWords(browser, 'Policy of the treasurer')
    await browser.until(heading('Policy of the treasurer'))
    await pressWords(browser, 'Without a policy')
    await pressWords(browser, 'Save the policy')
    await says(browser, 'This must be confirmed with your passkey.')
    await expectFit(browser, 'policy-confirmation')
    await confirm('main', async () => {
      expect(await device.evaluate('document.body.innerText')).toContain('all of it')
      await expectFit(device, 'confirm-policy')
    })
    await says(browser, 'Saved. It applies from now on.')
    const put = await stack.owner.call('PATCH', `/keys/${key.keyId}`, { body: { policy: ASKS } })
    expect(put.status, put.text).toBe(200)
  })

  test('is rotated, and the old one has its 24 hours counted down', async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await browser.until(`${cardOf(key.keyId)} !== undefined`)
    await pressWords(browser, 'Rotate the treasurer')
    await pressWords(browser, 'Rotate', 'dialog')
    await says(browser, 'Copy it now.', 'dialog')
    await pressWords(browser, 'I have copied it', 'dialog')
    await cardSays('rotated out')
    await browser.until(`/Ends in\\s+(24 h|23 h \\d+ min)/.test(${cardOf(key.keyId)}.innerText)`)
    await expectFit(browser, 'key-rotated')
  })

  test('is frozen with a reason, lifted by the passkey, and revoked for good', async () => {
    const other = await stack.owner.get('/keys?limit=100')
    const made = other.json.keys?.find(({ name }) => name === 'Paymaster')
    const id = String(made?.key_id)
    await pressWords(browser, 'Freeze Paymaster')
    await fillIn(browser, 'dialog input[name=reason]', 'looks odd')
    await pressWords(browser, 'Freeze Paymaster', 'dialog')
    await dialogIsGone()
    await browser.until(`${cardOf(id)}.innerText.includes('by the user: looks odd')`)
    await pressWords(browser, 'Unfreeze')
    await pressWords(browser, 'Unfreeze', 'dialog')
    await confirm('dialog')
    await dialogIsGone()
    await browser.until(`!${cardOf(id)}.innerText.includes('looks odd')`)
    await pressWords(browser, 'Revoke Paymaster')
    await pressWords(browser, 'Revoke permanently', 'dialog')
    await browser.until(`${cardOf(id)} === undefined`)
    await pressWords(browser, 'Show 1 revoked')
    await browser.until(`${cardOf(id)}?.innerText.includes('revoked') === true`)
    expect(await browser.evaluate('location.search')).toBe('?revoked=shown')
  })
})

describe('a call that waits', () => {
  async function ask(): Promise<void> {
    const sent = await key.api.post('/api/tx/send', {
      ...{ chain_id: 137, to: newAddress(), value: '1000001' },
    })
    expect(sent.json.status, sent.text).toBe('awaiting_approval')
    await visit(browser, '/approvals', 'Approvals')
    await browser.until(`document.querySelector('main .key-card') !== null`)
  }

  test('is approved from its card, with what it does and who asked', async () => {
    await ask()
    await says(browser, 'Gas costs at most')
    await says(browser, 'all of it')
    await expectFit(browser, 'approval')
    await pressWords(browser, 'Approve')
    await device.open(await hrefOf('Confirm with your passkey', 'main'))
    await device.until(loaded('#approve-call'))
    await expectFit(device, 'approve-call')
    await pressOn(device, '#approve-call')
    await device.until(`document.body.innerText.includes('1 of 1')`)
    await says(browser, 'Nothing waits for you')
    await choose(browser, 'main .page-head select', 'approved')
    await says(browser, 'all of it')
    expect(await browser.evaluate('location.search')).toBe('?status=approved')
  })

  test('is declined with a reason, which the history keeps', async () => {
    await ask()
    await pressWords(browser, 'Decline')
    await tabTo(browser, 'dialog input')
    await browser.type('nobody asked for it')
    await pressWords(browser, 'Decline', 'dialog')
    await dialogIsGone()
    await choose(browser, 'main .page-head select', 'declined')
    await says(browser, '“nobody asked for it”')
    await expectFit(browser, 'approval-declined')
  })
})

describe('the red button', () => {
  test('is on every page, freezes everything, and a passkey lifts it', async () => {
    const links = `[...document.querySelectorAll('nav.side a')].map((it) => it.pathname)`
    const paths = (await browser.evaluate(links)) as string[]
    expect(paths.length).toBeGreaterThan(10)
    for (const path of paths) {
      await pressOn(browser, `nav.side a[href="${path}"]`)
      await settled(browser)
      const button = `document.querySelector('header button[aria-label="Freeze everything"]')`
      expect(await browser.evaluate(`${button}?.checkVisibility() === true`), path).toBe(true)
    }
    await pressOn(browser, 'header button[aria-label="Freeze everything"]')
    await fillIn(browser, 'dialog input[name=reason]', 'all stop')
    await pressWords(browser, 'Freeze everything', 'dialog')
    await says(browser, 'Everything is frozen. By you')
    await expectFit(browser, 'frozen')
    const refused = await key.api.post('/api/tx/send', {
      ...{ chain_id: 137, to: newAddress(), value: '1' },
    })
    expect(refused.status).toBe(403)
    await pressWords(browser, 'Unfreeze', 'main .banner')
    await pressWords(browser, 'Unfreeze', 'dialog')
    await confirm('dialog', () => expectFit(device, 'confirm-unfreeze'))
    await browser.until(`document.querySelector('main .banner') === null`)
  })

  test('of one wallet is on its card, found by its name as keys are', async () => {
    await visit(browser, '/wallets', 'Wallets')
    const { sub_wallet_id } = stack.service.dev()
    const wallets = (await stack.owner.get('/wallets')).json.wallets as Record<string, string>[]
    const name = wallets.find((it) => it.sub_wallet_id === sub_wallet_id)?.name ?? ''
    await fillIn(browser, 'main input[name=search]', 'none at all')
    await browser.press('Enter')
    await says(browser, 'No wallet has that name')
    await fillIn(browser, 'main input[name=search]', name)
    await browser.press('Enter')
    await says(browser, '1 found.')
    await browser.until(`document.querySelectorAll('main .key-card').length === 1`)
  })

  test('of one wallet stops it, and its address is shown as a code to scan', async () => {
    await visit(browser, '/wallets', 'Wallets')
    await pressWords(browser, 'Receive')
    await browser.until(
      `document.querySelector('main .receive svg')?.getAttribute('role') === 'img'`,
    )
    await expectFit(browser, 'receive')
    await pressOn(browser, 'main .key-card .danger-quiet')
    await pressOn(browser, 'dialog .danger')
    await dialogIsGone()
    await browser.until(`document.querySelector('main .key-card').innerText.includes('frozen')`)
    await pressWords(browser, 'Unfreeze')
    await pressWords(browser, 'Unfreeze', 'dialog')
    await confirm('dialog')
    await dialogIsGone()
  })
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
