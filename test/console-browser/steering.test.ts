import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { Hex } from '../../src/domain/ids.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { choose, fillIn, openConsole, pressOn, pressWords, tabTo, visit } from './keyboard.js'
import { expectFit } from './views.js'

/** What people steer by: live pages, policies, calls by hand. By the keyboard alone. */
const BASE = 8453
/** Each look in four views takes its time where others work, too. */
const LOOKED_AT_OFTEN_MS = 600_000

let stack: Stack
let browser: Browser
let key: IssuedKey
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  key = await issueKey(stack)
  await openConsole(browser, stack.service.dev())
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

const says = (text: string, isThere = true) =>
  browser.until(
    `document.querySelector('main')?.innerText.includes(${JSON.stringify(text)}) === ${isThere}`,
  )

const press = (words: string) => pressWords(browser, words)
const fill = (selector: string, text: string) => fillIn(browser, selector, text)

test('a page follows what happens, also when the service was killed and is back', async () => {
  const isNow = (status: string) => `document.querySelector('.live').dataset.status === '${status}'`
  await browser.until(isNow('live'))
  await visit(browser, '/transactions', 'Transactions')
  const rows = (atLeast: number) =>
    `document.querySelectorAll('main tbody tr').length >= ${atLeast}`
  const send = () => key.api.post('/api/tx/send', { chain_id: 137, to: newAddress(), value: '1' })
  expect((await send()).status).toBeLessThan(300)
  await browser.until(rows(1))
  await stack.service.killAndAwaitRestart('service')
  expect((await send()).status).toBeLessThan(300)
  await browser.until(rows(2))
  await browser.until(isNow('live'))
  await expectFit(browser, 'live')
})

test(
  'a policy is edited as a form and as JSON, tried on calls, and saved by the keyboard',
  async () => {
    await visit(browser, '/keys', 'Agents & keys')
    await browser.until(
      `document.querySelector('.sparkline svg[role=img]')?.ariaLabel.includes('in all; most on')`,
    )
    await expectFit(browser, 'keys')
    await pressOn(browser, `main a[href$="/${key.keyId}/policy"]`)
    await browser.until(`document.querySelector('h1')?.textContent.startsWith('Policy of')`)
    await press('Start a policy')
    await press('Add a rule')
    await fill('section[aria-label="Rule 1"] input', 'strangers')
    await says('Nothing is changed', false)
    await fill('section[aria-label="Rule 1"] textarea', 'nobody')
    await says('rules[0].when.beneficiaries[0]')
    await expectFit(browser, 'policy-faults')
    const wanted = newAddress()
    await fill('section[aria-label="Rule 1"] textarea', wanted)
    await press('JSON')
    await browser.until(`document.querySelector('textarea.json')?.value.includes('${wanted}')`)
    await expectFit(browser, 'policy-json')
    await press('Form')
    await conditionsAreFields()
    await fill('input[name=to]', wanted)
    await press('Test it')
    await says('strangers')
    await press('Find examples')
    await says('would not change')
    await press('Replay past sends')
    await says('sends on record')
    await expectFit(browser, 'policy')
    await press('Save the policy')
    await says('Saved. It applies from now on.')
    const keys = (await stack.owner.get('/keys')).json.keys ?? []
    const saved = keys.find(({ key_id }) => key_id === key.keyId)
    expect(saved?.policy).toMatchObject({ rules: [{ name: 'strangers' }], default: 'allow' })
  },
  LOOKED_AT_OFTEN_MS,
)

/** What is asked less often: each field writes its part of the one text, and takes it out again. */
async function conditionsAreFields(): Promise<void> {
  await pressOn(browser, '.more-conditions summary')
  const field = (label: string) => `[data-wanted="${label}"]`
  const mark = (label: string) =>
    browser.until(`(() => {
      const found = [...document.querySelectorAll('.more-conditions label')]
        .find((it) => it.firstChild.textContent === '${label}')?.querySelector('input, select')
      if (found) found.dataset.wanted = '${label}'
      return Boolean(found)
    })()`)
  const put = async (label: string, text: string) => {
    await mark(label)
    await fill(field(label), text)
  }
  await put('Sends more than, native coin', '1.05')
  await put('More calls than', '3')
  await put('Within, seconds', '3600')
  await press('Add a span of hours')
  await put('From', '09:30')
  await press('Add an argument')
  await mark('Is')
  await choose(browser, field('Is'), 'in')
  const values = '.more-conditions .entry textarea'
  await tabTo(browser, values)
  await browser.type('7\ntrue')
  await press('Add an amount')
  await put('Token', 'native')
  await put('At most, smallest units', '12')
  await press('Add an exception')
  await says('must have a condition')
  await expectFit(browser, 'policy-conditions')
  await press('Remove the exception')
  await says('must have a condition', false)
  await press('JSON')
  const said = async () => {
    await browser.until(`document.querySelector('textarea.json') !== null`)
    return JSON.parse(
      String(await browser.evaluate(`document.querySelector('textarea.json').value`)),
    )
  }
  expect((await said()).rules[0].when).toMatchObject({
    value_native_gt: '1050000000000000000',
    count: { gt: 3, per_seconds: 3_600 },
    utc_hours: [{ from: '09:30', to: '18:00' }],
    arguments: [{ index: 0, op: 'in', value: ['7', true] }],
    amounts: [{ token: 'native', lte: '12' }],
  })
  await press('Form')
  for (const label of ['Sends more than, native coin', 'More calls than', 'Within, seconds']) {
    await mark(label)
    await tabTo(browser, field(label))
    await browser.evaluate('document.activeElement.select()')
    await browser.press('Backspace')
  }
  for (const one of ['span of hours', 'argument', 'amount']) {
    await pressOn(browser, `button[aria-label="Remove ${one} 1"]`)
  }
  await press('JSON')
  expect(Object.keys((await said()).rules[0].when)).toEqual(['beneficiaries'])
  await press('Form')
}

test('a wallet is sent from, swapped and deposited from by hand, and an allowance is ended', async () => {
  const trader = await issueKey(stack)
  const usdc = stack.service.dev().tokens[BASE]?.USDC as Hex
  const wrapped = String(stack.service.dev().tokens[BASE]?.WRAPPED)
  const data = encodeFunctionData({
    ...{ abi: erc20Abi, functionName: 'approve', args: [newAddress(), 5_000n] },
  })
  const approved = await trader.api.post('/api/tx/send', { chain_id: BASE, to: usdc, data })
  await finalOf(trader.api, approved.json.tx_id)
  await visit(browser, '/wallets', 'Wallets')
  await fill('input[name=secret]', trader.secret)
  await browser.press('Enter')
  await fill('form[aria-label="Send"] input[inputmode]', '0.001')
  await fill('form[aria-label="Send"] input[pattern^="0x"]', newAddress())
  await browser.press('Enter')
  await says('It succeeds.')
  await expectFit(browser, 'by-hand')
  await pressOn(browser, 'form[aria-label="Send"] .primary')
  await goes('Send')
  const asset = (symbol: string) =>
    `[...document.querySelectorAll('form[aria-label="Swap"] option')].find((it) => it.innerText.startsWith('${symbol}')).value`
  await choose(
    browser,
    'form[aria-label="Swap"] select',
    String(await browser.evaluate(asset('USDC'))),
  )
  await fill('form[aria-label="Swap"] input[inputmode]', '1')
  await fill('form[aria-label="Swap"] input[pattern^="0x"]', wrapped)
  await browser.press('Enter')
  await says('the service pays the gas')
  await expectFit(browser, 'swap-by-hand')
  await pressOn(browser, 'form[aria-label="Swap"] .primary')
  await goes('Swap')
  await fill('form[aria-label="Deposit"] input[inputmode]', '1')
  await browser.press('Enter')
  await says('shares.')
  await pressOn(browser, 'form[aria-label="Deposit"] .primary')
  await goes('Deposit')
  await pressOn(browser, 'main button[aria-label^="Withdraw from"]')
  await pressOn(browser, 'dialog form button')
  await pressOn(browser, 'dialog form .primary')
  await browser.until(`document.querySelector('dialog form .pill') !== null`)
  await pressOn(browser, 'dialog header button')
  await pressOn(browser, 'main td .danger-quiet')
  await pressOn(browser, 'dialog form button')
  await pressOn(browser, 'dialog form .primary')
  await browser.until(`document.querySelector('dialog form .pill') !== null`)
  await pressOn(browser, 'dialog header button')
  await browser.until(`!document.querySelector('main')?.innerText.includes('5000')`)
})

/** What a form by hand has sent is under way. */
async function goes(form: string): Promise<void> {
  await browser.until(`document.querySelector('form[aria-label="${form}"] .pill') !== null`)
}

test('an operation of an agent is called from the playground, as it is shown', async () => {
  await visit(browser, '/playground', 'Playground')
  await fill('input[name=secret]', key.secret)
  await browser.press('Enter')
  await choose(browser, 'main select', 'get_native_balance')
  await browser.until(`location.search === '?operation=get_native_balance'`)
  await fill('input[name=chain_id]', '137')
  await browser.press('Enter')
  await says('"symbol"')
  await says('/api/wallet/native-balance?chain_id=137')
  await says('wallet.getNativeBalance')
  await expectFit(browser, 'playground')
})

test('the overview and the operations page say how things are', async () => {
  await visit(browser, '/', 'Overview')
  await says('Spend, last 30 days')
  await browser.until(
    `[...document.querySelectorAll('main .pill')].some((it) => it.innerText === 'Base: enough')`,
  )
  await browser.until(`document.querySelector('.chart rect') !== null`)
  await pressOn(browser, 'button[aria-label="Breakers: strict"]')
  await browser.until(
    `document.querySelector('button[aria-label="Breakers: strict"]')?.ariaPressed === 'true'`,
  )
  await expectFit(browser, 'overview')
  await visit(browser, '/operations', 'Operations')
  await says('Polygon')
  await says('Open lanes')
  await says('Log level')
  await browser.evaluate('scrollTo(0, 1e6)')
  await expectFit(browser, 'operations')
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
