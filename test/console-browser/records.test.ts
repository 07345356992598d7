import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainView, newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import type { ReplyBody } from '../support/http-client.js'
import { type Receiver, startReceiver, status } from '../webhooks/receiver.js'
import { choose, heading, openConsole, pressOn, tabTo, visit } from './keyboard.js'
import { expectFit } from './views.js'

/** What the console keeps on record (transactions, deliveries, the audit trail, lists), by keyboard. */

let stack: Stack
let browser: Browser
let receiver: Receiver
let key: IssuedKey
const blocked = getAddress(newAddress())
let sent: ReplyBody
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  receiver = await startReceiver(status(204))
  const hook = await stack.owner.post('/webhooks', { url: receiver.url })
  expect(hook.status, hook.text).toBe(201)
  const rule = await stack.owner.post('/address-rules', { address: blocked, action: 'block' })
  expect(rule.status, rule.text).toBeLessThan(300)
  key = await issueKey(stack)
  const made = await key.api.post('/api/tx/send', { chain_id: 137, to: newAddress(), value: '1' })
  sent = await finalOf(key.api, made.json.tx_id)
  const refused = await key.api.post('/api/tx/send', { chain_id: 137, to: blocked, value: '1' })
  expect(refused.code).toBe('ADDRESS_BLOCKED')
  await openConsole(browser, stack.service.dev())
})
afterAll(async () => {
  await browser?.close()
  await receiver?.stop()
  await stack?.service.stop()
})

const says = (text: string) =>
  browser.until(`document.querySelector('main')?.innerText.includes(${JSON.stringify(text)})`)
const address = () => browser.evaluate('location.pathname + location.search')

describe('transactions', () => {
  test('are found by hash, and one shows what happened to it, and who was told', async () => {
    await visit(browser, '/transactions', 'Transactions')
    await tabTo(browser, 'input[name=search]')
    await browser.type('0x12')
    await browser.press('Enter')
    await says('a hash 0x and 64 digits')
    await browser.evaluate(`document.activeElement.select()`)
    await browser.type(String(sent.tx_hash))
    await browser.press('Enter')
    await browser.until(`location.search.includes('search=0x')`)
    await browser.until(`document.querySelectorAll('main tbody tr').length === 1`)
    await pressOn(browser, `main a[href$="${sent.tx_id}"]`)
    await browser.until(heading('Transaction'))
    await says('Signed by both keys, and stored')
    await says('Confirmed')
    await says('transaction.confirmed')
    await says('send.allowed')
    await says('Approved; recorded')
    await pressOn(browser, 'main .rows summary')
    await says('"type": "transaction.')
    await expectFit(browser, 'transaction')
  })

  test('are narrowed by what is in the address, and what was refused says why', async () => {
    await visit(browser, '/transactions', 'Transactions')
    await choose(browser, 'select[name=status]', 'refused')
    await says(`It is ${blocked}`)
    expect(await address()).toBe('/console/transactions?status=refused')
    await choose(browser, 'select[name=key_id]', key.keyId)
    await browser.until(`location.search.includes(${JSON.stringify(key.keyId)})`)
    await says(`It is ${blocked}`)
    await expectFit(browser, 'refused')
    await choose(browser, 'select[name=status]', 'dropped')
    await says('No matching transactions')
  })
})

describe('a transaction that no block takes', () => {
  test('is cancelled on its page, which shows what came of it', async () => {
    const { service } = stack
    const polygon = chainView(service.dev(), 137)
    // What makes blocks waits, too.
    service.restarts(false)
    await polygon.call('evm_setAutomine', [false])
    try {
      const body = { chain_id: 137, to: newAddress(), value: '2' }
      const waiting = await key.api.post('/api/tx/send', body)
      await visit(browser, '/transactions', 'Transactions')
      await pressOn(browser, `main a[href$="${waiting.json.tx_id}"]`)
      await browser.until(heading('Transaction'))
      await says('Broadcast: a node has accepted it')
      await pressOn(browser, 'main .card-head button:not(.copy)')
      await pressOn(browser, 'dialog .danger')
      await says('Cancellation signed')
      await says('Its cancellation')
      await expect
        .poll(async () => {
          const { json } = await key.api.get(`/api/tx/${waiting.json.tx_id}`)
          return polygon.call('eth_getTransactionByHash', [json.tx_hash])
        })
        .toMatchObject({ to: String(sent.from).toLowerCase() })
    } finally {
      await polygon.call('evm_setAutomine', [true])
      await polygon.call('evm_mine', [])
      service.restarts(true)
    }
    await says('Dropped: it can no longer be mined')
  })
})

describe('webhooks and alert channels', () => {
  test('an endpoint is made and tested, and its deliveries are looked at and sent again', async () => {
    await visit(browser, '/webhooks', 'Webhooks & alerts')
    await pressOn(browser, 'main .card .primary')
    await tabTo(browser, 'dialog input[name=url]')
    await browser.type(`${receiver.url}?made`)
    await browser.press('Enter')
    await browser.until(`document.querySelector('dialog .secret')?.innerText.includes('whsec_')`)
    await pressOn(browser, 'dialog .actions .primary')
    await expectFit(browser, 'webhooks')
    await browser.until(`document.querySelectorAll('main tbody tr').length === 2`)
    const link = `document.querySelector('main tbody a[href]')`
    const links = `[...document.querySelectorAll('main tbody a')]`
    await browser.evaluate(`${links}.find((it) => it.innerText.endsWith('?made')).id = 'made'`)
    await pressOn(browser, '#made')
    await browser.until(heading('Endpoint'))
    expect(await browser.evaluate(`${link} === null`)).toBe(true)
    const button = (words: string) =>
      `[...document.querySelectorAll('main button')].find((it) => it.innerText === '${words}')`
    const press = async (words: string) => {
      await browser.until(`${button(words)} !== undefined`)
      await browser.evaluate(`${button(words)}.dataset.wanted = '${words}'`)
      await pressOn(browser, `button[data-wanted="${words}"]`)
    }
    await press('Send a test')
    await says('webhook.test')
    await says('204 in')
    await press('Redeliver')
    await says('2 attempts')
    await pressOn(browser, 'main td details:not(:has(ol)) summary')
    await says('"type": "webhook.test"')
    await expectFit(browser, 'endpoint')
    await press('Change')
    await tabTo(browser, 'dialog input[name=description]')
    await browser.type('for the ledger')
    await browser.press('Enter')
    await says('for the ledger')
    await press('Rotate the secret')
    await pressOn(browser, 'dialog .primary')
    await browser.until(`document.querySelector('dialog .secret')?.innerText.includes('whsec_')`)
    await pressOn(browser, 'dialog .primary')
    await press('Switch off')
    await says('disabled')
    await press('Switch on')
    await says('enabled')
    await press('Remove')
    await pressOn(browser, 'dialog .danger')
    await browser.until(heading('Webhooks & alerts'))
    await browser.until(`document.querySelectorAll('main tbody tr').length === 1`)
  })

  test('a channel for people is made, and told when it is tested', async () => {
    await visit(browser, '/webhooks', 'Webhooks & alerts')
    await pressOn(browser, 'main .card:last-child .card-head button')
    await choose(browser, 'dialog select', 'ntfy')
    await tabTo(browser, 'dialog input[name=url]')
    await browser.type(new URL('/alarms', receiver.url).href)
    await browser.press('Enter')
    await browser.until(`document.querySelector('dialog') === null`)
    await says('/alarms')
    await pressOn(browser, '.card:last-child tbody button')
    await says('Sent.')
    await expect.poll(() => receiver.received.map(({ path }) => path)).toContain('/alarms')
  })
})

describe('the audit trail', () => {
  test('is narrowed by type, and each entry can be unfolded', async () => {
    await visit(browser, '/audit', 'Audit')
    await choose(browser, 'select[name=type]', 'send.allowed')
    const rows = `[...document.querySelectorAll('main tbody tr')]`
    await browser.until(`${rows}.every((it) => it.innerText.includes('send.allowed'))`)
    expect(await address()).toBe('/console/audit?type=send.allowed')
    await pressOn(browser, 'main tbody summary')
    await says('"reserved_usd"')
    await expectFit(browser, 'audit')
  })

  test('is exported as it is narrowed, and says how much of it the file has', async () => {
    await pressOn(browser, 'main .page-head button')
    await pressOn(browser, 'dialog .actions .primary')
    await browser.until(`document.querySelector('dialog')?.innerText.includes('are in the file')`)
    await pressOn(browser, 'dialog .actions button:last-child')
    await browser.until(`document.querySelector('dialog')?.innerText.includes('are in the file')`)
    await browser.press('Escape')
    await browser.until(`document.querySelector('dialog') === null`)
  })
})

describe('the evidence', () => {
  test('is verified by a command, which is there to be copied', async () => {
    await visit(browser, '/audit', 'Audit')
    await tabTo(browser, 'main button[aria-label="Copy Shell"]')
    await says('countersign verify-audit --service')
    await browser.evaluate(`document.querySelector('main .after').scrollIntoView()`)
    await expectFit(browser, 'evidence')
  })
})

describe('lists', () => {
  test('show their versions, an address is checked, and a rule is set and removed', async () => {
    await visit(browser, '/lists', 'Lists')
    await says('dev-sample')
    await tabTo(browser, 'input[name=checked]')
    await browser.type('0x098B716B8Aaf21512996dC57EB0615e2383E2f96')
    await browser.press('Enter')
    await says('On dev-sample (sanctions)')
    await pressOn(browser, 'main .card-head .primary')
    await tabTo(browser, 'dialog input[name=address]')
    const address = getAddress(newAddress())
    await browser.type(address)
    await choose(browser, 'dialog select', 'allow')
    await pressOn(browser, 'dialog .actions .primary')
    await browser.until(
      `document.querySelectorAll('main .danger-quiet, main td button').length > 0`,
    )
    await browser.until(`document.querySelector('main [title="${address}"]') !== null`)
    await expectFit(browser, 'lists')
    await pressOn(browser, `main button[aria-label$="${address}"]`)
    await pressOn(browser, 'dialog .danger')
    await browser.until(`document.querySelector('main [title="${address}"]') === null`)
  })
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
