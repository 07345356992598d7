import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { choose, heading, openConsole, pressOn, settled, tabTo, visit } from './keyboard.js'

/** What a hasty hand, a slow answer or another tab does must not become something else. */
const BASE = 8453
const KEYS_A_PAGE = 100
const TOGETHER = 10

let stack: Stack
let browser: Browser
let key: IssuedKey
let otherWallet: string
/** Not what a form of the page lets choose. */
const WALLET_CHOICE = 'main .filters legend + label select'
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  key = await issueKey(stack)
  const sent = await key.api.post('/api/tx/send', { chain_id: 137, to: newAddress(), value: '1' })
  await finalOf(key.api, sent.json.tx_id)
  const made = await stack.owner.post('/wallets', { name: 'another' })
  otherWallet = String(made.json.sub_wallet_id)
  await openConsole(browser, stack.service.dev())
  await browser.evaluate('window.plainFetch = fetch, 0')
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

/** Whatever a test has left. */
afterEach(() =>
  browser.evaluate(`(() => {
    document.querySelector('dialog')?.close()
    window.fetch = window.plainFetch
    window.dispatchEvent(new Event('online'))
  })()`),
)

/** @param body of a function of `input`, `init` and `plain`; it calls that or does something else */
const whenFetching = (body: string) =>
  browser.evaluate(`(() => {
    const plain = window.plainFetch.bind(window)
    window.fetch = async (input, init) => { ${body} }
  })()`)

describe('a form', () => {
  test('of a key that may only look stays one, whatever is chosen after that', async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await pressOn(browser, 'main .page-head .primary')
    await browser.until(`document.querySelector('dialog input[value=read]') !== null`)
    await browser.evaluate(`document.querySelector('dialog input[value=read]').click()`)
    await choose(browser, 'dialog select[name=template]', 'ask-new')
    await browser.until(
      `document.querySelector('dialog').innerText.includes('Whoever this wallet')`,
    )
    expect(
      await browser.evaluate(
        `new FormData(document.querySelector('dialog form')).get('permission')`,
      ),
    ).toBe('read')
  })

  test('that is sent twice in a moment acts once', async () => {
    await visit(browser, '/wallets', 'Wallets')
    await pressOn(browser, 'main .page-head .primary')
    await tabTo(browser, 'dialog input')
    await browser.type('only one')
    await browser.evaluate('window.posted = 0')
    await whenFetching(`if (init?.method === 'POST') window.posted++
      return plain(input, init)`)
    await browser.evaluate(`(() => {
      const form = document.querySelector('dialog form')
      form.requestSubmit()
      form.requestSubmit()
    })()`)
    await browser.until(`document.querySelector('dialog') === null`)
    expect(await browser.evaluate('window.posted')).toBe(1)
  })

  test('takes what was typed for one service to no other', async () => {
    await visit(browser, '/webhooks', 'Webhooks & alerts')
    await pressOn(browser, 'main .card:last-child .card-head button')
    await choose(browser, 'dialog select', 'telegram')
    await tabTo(browser, 'dialog input[name=token]')
    await browser.type('the-token-of-a-bot')
    await choose(browser, 'dialog select', 'ntfy')
    await browser.until(`document.querySelector('dialog input[name=chat_id]') === null`)
    expect(await browser.evaluate(`document.querySelector('dialog input[name=token]').value`)).toBe(
      '',
    )
  })

  test('that is left by its Cancel gives the focus back', async () => {
    await visit(browser, '/wallets', 'Wallets')
    await pressOn(browser, 'main .page-head .primary')
    await pressOn(browser, 'dialog .actions button[type=button]')
    await browser.until(`document.querySelector('dialog') === null`)
    expect(
      await browser.evaluate(`document.activeElement.matches('main .page-head .primary')`),
    ).toBe(true)
  })
})

describe('what is shown', () => {
  test('once stays until it is put away: the secret of a key that took the place of another', async () => {
    const old = await issueKey(stack)
    await visit(browser, '/keys', 'Agents & keys')
    const card = `[...document.querySelectorAll('main .key-card')]
      .find((it) => it.querySelector('[title="${old.keyId}"]') !== null)`
    await browser.until(`${card} !== undefined`)
    await browser.evaluate(`${card}.id = 'old'`)
    await pressOn(browser, '#old button[aria-label^="Rotate"]')
    await pressOn(browser, 'dialog .primary')
    await browser.until(`${card}.innerText.includes('rotated out')`)
    expect(await browser.evaluate(`document.querySelector('dialog .secret')?.innerText`)).toContain(
      'sk_test_',
    )
    await pressOn(browser, 'dialog .actions .primary')
    await browser.until(`document.querySelector('dialog') === null`)
  })

  test('under a filter is of that filter, however long its answer takes', async () => {
    await visit(browser, '/transactions', 'Transactions')
    await browser.until(`document.querySelectorAll('main tbody tr').length === 1`)
    await whenFetching(`if (String(input).includes('status=dropped')) {
      await new Promise((resolve) => { window.answer = resolve })
    }
    return plain(input, init)`)
    await choose(browser, 'select[name=status]', 'dropped')
    await browser.until(`window.answer !== undefined`)
    await browser.until(`document.querySelector('main .spinner') !== null`)
    expect(await browser.evaluate(`document.querySelectorAll('main tbody tr').length`)).toBe(0)
    await browser.evaluate('window.answer()')
    await browser.until(`document.querySelector('main').innerText.includes('No transaction')`)
  })

  test('is read also where the browser takes itself to be offline', async () => {
    await browser.evaluate(`window.dispatchEvent(new Event('offline')), 0`)
    await visit(browser, '/lists', 'Lists')
    await browser.until(`document.querySelector('main').innerText.includes('dev-sample')`)
  })

  test('by another name keeps the focus where it is', async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await pressOn(browser, `main a[href$="/${key.keyId}/policy"]`)
    await browser.until(`document.querySelector('h1')?.textContent.startsWith('Policy of')`)
    await tabTo(browser, 'main fieldset button')
    const renamed = await stack.owner.call('PATCH', `/keys/${key.keyId}`, {
      body: { name: 'renamed meanwhile' },
    })
    expect(renamed.status, renamed.text).toBe(200)
    await browser.until(heading('Policy of renamed meanwhile'))
    expect(await browser.evaluate(`document.activeElement.matches('main fieldset button')`)).toBe(
      true,
    )
  })
})

test('what is typed while a policy is confirmed is kept, and no part of what was saved', async () => {
  const { keyId } = await issueKey(stack)
  await visit(browser, '/keys', 'Agents & keys')
  await pressOn(browser, `main a[href$="/${keyId}/policy"]`)
  await browser.until(`document.querySelector('h1')?.textContent.startsWith('Policy of')`)
  const press = (words: string) =>
    browser.until(`(() => {
      const it = [...document.querySelectorAll('main button')].find((one) => one.innerText === '${words}')
      if (it === undefined || it.disabled) return false
      it.click()
      return true
    })()`)
  await press('Start a policy')
  await press('JSON')
  await tabTo(browser, 'textarea.json')
  const asked = { rules: [], default: 'deny' }
  const typed = { rules: [], default: 'require_approval' }
  const put = async (policy: object) => {
    await browser.evaluate('document.activeElement.select()')
    await browser.type(JSON.stringify(policy))
  }
  await put(asked)
  // As an instance whose people have passkeys answers, until one of them has confirmed.
  await whenFetching(`if (init?.method !== 'PATCH') return plain(input, init)
    const { authorization, ...body } = JSON.parse(init.body)
    if (authorization !== undefined && window.confirmed) {
      return plain(input, { ...init, body: JSON.stringify(body) })
    }
    const confirm_before = new Date(Date.now() + 600_000).toISOString()
    const details = { authorization_id: 'one', confirm_before, authorizers: [{}] }
    const error = { code: 'AUTHORIZATION_REQUIRED', message: 'Confirm it.', details }
    return Response.json({ error }, { status: 403 })`)
  await press('Save the policy')
  const says = (text: string) =>
    browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`)
  await says('This must be confirmed with your passkey')
  await tabTo(browser, 'textarea.json')
  await put(typed)
  await says('Changes that you made after saving are not included.')
  await browser.evaluate('window.confirmed = true')
  await browser.until(`document.querySelector('.save .notice') === null`)
  const text = await browser.evaluate(`document.querySelector('textarea.json').value`)
  expect(JSON.parse(String(text))).toEqual(typed)
  const keys = (await stack.owner.get('/keys')).json.keys ?? []
  expect(keys.find(({ key_id }) => key_id === keyId)?.policy).toMatchObject(asked)
})

test('what is shown of one wallet is not withdrawn with the key of another', async () => {
  const { sub_wallet_id: ownWallet } = stack.service.dev()
  // The same position in each wallet.
  const position = {
    ...{ market_id: 'the-vault', chain_id: BASE, vault: newAddress(), asset: newAddress() },
    ...{ shares: '5', asset_amount: '5', usd_value: '5' },
  }
  await whenFetching(`return /[/]positions/.test(String(input))
    ? Response.json({ positions: [${JSON.stringify(position)}] })
    : plain(input, init)`)
  await visit(browser, '/wallets', 'Wallets')
  await choose(browser, WALLET_CHOICE, ownWallet)
  await tabTo(browser, 'input[name=secret]')
  await browser.type(key.secret)
  await browser.press('Enter')
  await choose(browser, WALLET_CHOICE, otherWallet)
  await browser.until(
    `document.querySelector('main').innerText.includes('This key belongs to another wallet')`,
  )
  const withdraw = `document.querySelector('main button[aria-label^="Withdraw from"]') !== null`
  await browser.until(`document.querySelector('main').innerText.includes('$5.00')`)
  expect(await browser.evaluate(withdraw)).toBe(false)
  await choose(browser, WALLET_CHOICE, ownWallet)
  await browser.until(withdraw)
  await settled(browser)
})

test('an allowance that stands still when all are ended says why', async () => {
  await visit(browser, '/keys', 'Agents & keys')
  const [token, spender, tx_id] = [newAddress(), newAddress(), 'tx_1']
  const allowance = { token, spender, tx_id, kind: 'erc20', amount: '5', usd_value: null }
  const skipped = { token, spender, tx_id, chain_id: BASE, code: 'X', message: 'No gas for it.' }
  const answers = [
    { chain_id: BASE, allowances: [{ ...allowance, token_id: null }], complete: true },
    { transactions: [], skipped: [skipped] },
  ]
  await whenFetching(`const [listed, ended] = ${JSON.stringify(answers)}
    if (/revoke-allowances/.test(String(input))) return Response.json(ended)
    return /[/]allowances/.test(String(input)) ? Response.json(listed) : plain(input, init)`)
  await visit(browser, '/wallets', 'Wallets')
  await choose(browser, WALLET_CHOICE, stack.service.dev().sub_wallet_id)
  // Which nothing has read before.
  await choose(browser, 'main .filters label:last-child select', '42161')
  await tabTo(browser, 'input[name=secret]')
  await browser.type(key.secret)
  await browser.press('Enter')
  await browser.until(`(() => {
    const it = [...document.querySelectorAll('main button.more')].find((one) => one.innerText === 'Revoke all')
    it?.click()
    return it !== undefined
  })()`)
  await pressOn(browser, 'dialog .danger')
  await browser.until(`document.querySelector('dialog')?.innerText.includes('No gas for it.')`)
})

test('a page that cannot show an answer says so, and the others go on', async () => {
  await whenFetching(`return /agent[/]lists/.test(String(input))
    ? Response.json({})
    : plain(input, init)`)
  await visit(browser, '/keys', 'Agents & keys')
  await pressOn(browser, 'nav.side a[href="/console/lists"]')
  await browser.until(heading('This page failed'))
  await visit(browser, '/operations', 'Operations')
  await browser.until(`document.querySelector('button[aria-label="Freeze everything"]') !== null`)
})

test('a key behind a hundred newer ones is found, and its policy opened', async () => {
  for (let made = 0; made <= KEYS_A_PAGE; made += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, () => issueKey(stack)))
  }
  await visit(browser, '/keys', 'Agents & keys')
  const isShown = `document.querySelector('main .key-card [title="${key.keyId}"]') !== null`
  await browser.until(`document.querySelectorAll('main .key-card').length >= ${KEYS_A_PAGE}`)
  expect(await browser.evaluate(isShown)).toBe(false)
  // Behind more cards than a test has to tab through.
  await browser.click('main button.more')
  await browser.until(isShown)
  await browser.click(`main a[href$="/${key.keyId}/policy"]`)
  await browser.until(heading('Policy of renamed meanwhile'))
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
