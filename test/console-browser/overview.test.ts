import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatUsd } from '../../src/console/parts/money.js'
import { chainView, newAddress } from '../e2e/chain.js'
import { allFinal, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { openConsole, pressWords, says, settled, visit } from './keyboard.js'
import { expectFit } from './views.js'

/** What the overview says of the whole account, with more keys than one answer holds. */
const NEWER_KEYS = 104
const TOGETHER = 8
const POLYGON = 137

let stack: Stack
let browser: Browser
/** The oldest of them, the one that spends. */
let spender: IssuedKey
/** Of the stack itself, besides. */
let otherKeys = 0
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  otherKeys = (await stack.owner.get('/keys')).json.keys?.length ?? 0
  spender = await issueKey(stack, { dailyUsd: '50', monthlyUsd: '5000' })
  const named = { body: { name: 'the spender' } }
  const patched = await stack.owner.call('PATCH', `/keys/${spender.keyId}`, named)
  expect(patched.status, patched.text).toBe(200)
  for (let made = 0; made < NEWER_KEYS; made += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, () => issueKey(stack)))
  }
  await openConsole(browser, stack.service.dev())
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

const totalOf = (title: string) => `[...document.querySelectorAll('.totals > div')]
  .find((it) => it.querySelector('dt').innerText === '${title}')?.querySelector('dd').innerText`
const names = `[...document.querySelectorAll('.spenders strong')].map((it) => it.innerText)`
/** A card by its title. */
const card = (title: string) => `[...document.querySelectorAll('main .card')]
  .find((it) => it.querySelector('h2')?.innerText === '${title}')`

describe('behind a hundred newer keys', () => {
  test('what a key spends is in the totals, and it is the first of those that are shown', async () => {
    const value = '1000000000000000000'
    const sent = await spender.api.post('/api/tx/send', {
      ...{ chain_id: POLYGON, to: newAddress(), value },
    })
    expect(sent.status, sent.text).toBeLessThan(300)
    await allFinal(stack.owner, spender)
    const { json } = await spender.api.get('/api/limits')
    const used = formatUsd(String(json.daily_used_usd))
    expect(json.daily_used_usd).not.toBe('0.00')
    await browser.until(`${totalOf('Today')} === ${JSON.stringify(used)}`)
    await browser.until(`${totalOf('This month')} === ${JSON.stringify(used)}`)
    await browser.until(`${names}[0] === 'the spender'`)
    const keys = otherKeys + 1 + NEWER_KEYS
    await says(browser, `Of ${keys} keys, those nearest to a cap come first.`)
    await browser.until(
      `document.querySelector('.chart figcaption strong')?.innerText === ${JSON.stringify(used)}`,
    )
    await expectFit(browser, 'overview-many-keys')
  })

  test('more of them are shown by the keyboard, the ones that have spent nothing last', async () => {
    const count = `document.querySelectorAll('.spenders > li').length`
    const before = Number(await browser.evaluate(count))
    expect(before).toBeLessThan(NEWER_KEYS)
    await pressWords(browser, 'Show more keys')
    await browser.until(`${count} === ${2 * before}`)
    expect(await browser.evaluate(`${names}[0]`)).toBe('the spender')
  })
})

describe('a transaction that no block takes', () => {
  test('is in flight, with its status, until a block has it', async () => {
    const { service } = stack
    const polygon = chainView(service.dev(), POLYGON)
    await visit(browser, '/', 'Overview')
    await settled(browser)
    await browser.until(`${card('In flight')}.innerText.includes('Nothing is in flight')`)
    // What makes blocks waits, too.
    service.restarts(false)
    await polygon.call('evm_setAutomine', [false])
    let txId = ''
    try {
      const body = { chain_id: POLYGON, to: newAddress(), value: '2' }
      const sent = await spender.api.post('/api/tx/send', body)
      txId = String(sent.json.tx_id)
      const row = `${card('In flight')}.querySelector('a[href$="${txId}"]')?.closest('tr')`
      await browser.until(`${row}?.innerText.includes('broadcast') === true`)
      await browser.until(`${card('In flight')}.innerText.includes('1 in flight.')`)
      const { json } = await spender.api.get(`/api/tx/${txId}`)
      expect(json.status).toBe('broadcast')
      await expectFit(browser, 'in-flight')
    } finally {
      await polygon.call('evm_setAutomine', [true])
      await polygon.call('evm_mine', [])
      service.restarts(true)
    }
    await browser.until(`${card('In flight')}.innerText.includes('Nothing is in flight')`)
    const latest = `${card('Latest transactions')}.querySelector('a[href$="${txId}"]')`
    await browser.until(`${latest}?.closest('tr').innerText.includes('confirmed') === true`)
  })
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
