import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Chain, chainOf, give, newWallet } from '../defi/sponsored-wallet.js'
import { erc20Transfer, newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { choose, heading, openConsole, pressOn, pressWords, says, visit } from './keyboard.js'
import { expectFit } from './views.js'

/** The page of one transaction, for one of each kind, and for calls that were refused. */

const BASE = 8453
/** `deposit()` of wrapped native currency. */
const WRAP = '0xd0e30db0'
/** Each look in four views takes its time where others work, too. */
const LOOKED_AT_OFTEN_MS = 600_000

let stack: Stack
let browser: Browser
let chain: Chain
let key: IssuedKey
let poor: IssuedKey
let subWalletId: string
const payee = getAddress(newAddress())
const blocked = getAddress(newAddress())
beforeAll(async () => {
  browser = await startBrowser()
  stack = await startStack()
  const wallet = await newWallet(stack)
  subWalletId = wallet.subWalletId
  key = wallet.key
  poor = await issueKey(stack, { subWalletId, dailyUsd: '2' })
  chain = chainOf(stack, BASE)
  await give(stack, BASE, wallet.address, '1', 'native')
  await give(stack, BASE, wallet.address, '1000', 'USDC')
  await stack.owner.post('/address-rules', { address: blocked, action: 'block' })
  await openConsole(browser, stack.service.dev())
})
afterAll(async () => {
  await browser?.close()
  await stack?.service.stop()
})

/** As the page shows an address. */
const shortened = (address: string) => `${address.slice(0, 10)}…${address.slice(-6)}`

/** The text of the card with that heading, all of it in one line. */
const card = async (title: string): Promise<string> => {
  const found = `[...document.querySelectorAll('main .card')]
    .find((it) => it.querySelector('h2')?.innerText === ${JSON.stringify(title)})`
  await browser.until(`${found} !== undefined`)
  return String(await browser.evaluate(`${found}.innerText.replace(/\\s+/g, ' ')`))
}

async function look(txId: unknown): Promise<void> {
  await visit(browser, '/transactions', 'Transactions')
  await pressOn(browser, `main a[href$="${txId}"]`)
  await browser.until(heading('Transaction'))
  await says(browser, 'Simulation')
}

async function done(path: string, body: object): Promise<void> {
  const sent = await key.api.post(path, { chain_id: BASE, ...body })
  expect(sent.status, sent.text).toBeLessThan(300)
  expect((await finalOf(key.api, sent.json.tx_id)).status).toBe('confirmed')
  await look(sent.json.tx_id)
  await says(browser, 'Confirmed')
}

async function expectBothKeys(signatures: number): Promise<void> {
  const text = await card('Both keys')
  expect(text.match(/Approved; recorded/g)).toHaveLength(signatures)
  expect(text.match(/Entry \d+ of chain \d+, log service 0x/g)).toHaveLength(signatures)
  expect(text.match(/Quorum signer Signed/g)).toHaveLength(signatures)
}

describe('a transaction that went through', () => {
  test(
    'shows of a plain send the movement itself, its price, its lists and both approvals',
    async () => {
      await done('/api/tx/send', { to: payee, value: '1000000000000000' })
      const moves = await card('Simulation')
      expect(moves).toContain('No simulation was needed')
      expect(moves).toContain(`Leaves 0.001 ETH to ${shortened(payee)}`)
      expect(await card('Value and fees')).toMatch(/ETH at \$[1-9]/)
      expect(await card('Screening')).toContain('dev-sample')
      await expectBothKeys(1)
      await expectFit(browser, 'transaction-send')
    },
    LOOKED_AT_OFTEN_MS,
  )

  test('shows the token that was sent, by its symbol', async () => {
    const data = erc20Transfer(payee, 5n * chain.oneUsdc)
    await done('/api/tx/send', { to: chain.usdc, data })
    expect(await card('Simulation')).toContain(`Leaves 5 USDC to ${shortened(payee)}`)
    expect(await card('Value and fees')).toContain('USDC at $1.00')
  })

  test('shows of another contract what a node ran: what left, and what arrived', async () => {
    await done('/api/tx/send', { to: chain.wrapped, data: WRAP, value: '1000000000000000' })
    const moves = await card('Simulation')
    expect(moves).toMatch(/A node simulated it when it was decided\. It took [\d,]+ units of gas\./)
    expect(moves).toContain(`Leaves 0.001 ETH to ${shortened(chain.wrapped)}`)
    expect(moves).toMatch(/Arrives 0\.001 /)
  })

  test(
    'shows of a swap what the Router holds it to, and all that both keys signed for it',
    async () => {
      const amount_in = (100n * chain.oneUsdc).toString()
      const terms = { token_in: chain.usdc, token_out: chain.wrapped, amount_in }
      await done('/api/swap/execute', terms)
      const moves = await card('Simulation')
      expect(moves).toContain('Leaves 100 USDC')
      expect(moves).toMatch(/Arrives at least 0\.0\d+ /)
      expect(await card('Both keys')).toContain('The Router intent that the wallet signed')
      await expectBothKeys(3)
      await expectFit(browser, 'transaction-swap')
    },
    LOOKED_AT_OFTEN_MS,
  )
})

describe('a call that the service pays for', () => {
  test(
    'shows of a deposit, a withdrawal and a gas swap what leaves, and the least that arrives',
    async () => {
      const { marketId, oneUsdc } = chain
      const amount = (50n * oneUsdc).toString()
      await done('/api/defi/deposit', { market_id: marketId, amount })
      expect(await card('Simulation')).toMatch(/Leaves 50 USDC .*Arrives at least \d+ smallest/)
      await expectBothKeys(2)
      await done('/api/defi/withdraw', { market_id: marketId, shares: 'max' })
      expect(await card('Simulation')).toMatch(
        /Leaves \d+ smallest units of .*at least 49\.\d+ USDC/,
      )
      await done('/api/gas/swap', { amount_in: amount })
      expect(await card('Simulation')).toMatch(/Leaves 50 USDC .*Arrives at least 0\.0\d+ ETH/)
      expect(await card('Value and fees')).toContain('The service pays')
    },
    LOOKED_AT_OFTEN_MS,
  )
})

describe('a call that waits for a person', () => {
  test('shows what a node ran, what it was held against, and that nothing is signed yet', async () => {
    const asked = await issueKey(stack, { subWalletId })
    const approvals = { needed: 1, expires_seconds: 3_600 }
    const rule = { name: 'ask', effect: 'require_approval', when: {}, approvals }
    const body = { policy: { rules: [rule], default: 'allow' } }
    const put = await stack.owner.call('PATCH', `/keys/${asked.keyId}`, { body })
    expect(put.status, put.text).toBe(200)
    const call = { chain_id: BASE, to: chain.wrapped, data: WRAP, value: '2000000000000000' }
    const waits = await asked.api.post('/api/tx/send', call)
    expect(waits.status, waits.text).toBe(202)
    await look(waits.json.tx_id)
    expect(await card('Simulation')).toContain('Leaves 0.002 ETH')
    expect(await card('Screening')).toContain('dev-sample')
    expect(await card('Both keys')).toContain('Nothing is signed yet')
    await pressWords(browser, 'Approve')
    await says(browser, 'Confirmed')
    await expectBothKeys(1)
    expect(await card('Simulation')).toContain('Leaves 0.002 ETH')
  })
})

describe('a call that was refused', () => {
  async function lookAtRefused(asked: IssuedKey, code: string, body: object): Promise<void> {
    const answer = await asked.api.post('/api/tx/send', { chain_id: BASE, ...body })
    expect(answer.code, answer.text).toBe(code)
    await visit(browser, '/transactions', 'Transactions')
    await choose(browser, 'select[name=status]', 'refused')
    await choose(browser, 'select[name=key_id]', asked.keyId)
    await pressOn(browser, 'main tbody a')
    await browser.until(heading('Transaction'))
    await says(browser, 'Refused: nothing was signed')
    await says(browser, code)
  }

  test(
    'is reached from its entry, and says why in words, and what it would have moved',
    async () => {
      const data = erc20Transfer(payee, 5n * chain.oneUsdc)
      await lookAtRefused(poor, 'LIMIT_EXCEEDED', { to: chain.usdc, data })
      await says(browser, '$0.00 of the daily $2.00 was used, and the call asked for $5.')
      expect(await card('Simulation')).toContain(`Leaves 5 USDC to ${shortened(payee)}`)
      expect(await card('Value and fees')).toContain('USDC at $1.00')
      expect(await card('Screening')).toContain('refused before it was screened')
      expect(await card('Both keys')).toContain('Nothing was signed')
      await expectFit(browser, 'transaction-refused')
    },
    LOOKED_AT_OFTEN_MS,
  )

  test('shows the versions of the lists that it was held against', async () => {
    await lookAtRefused(key, 'ADDRESS_BLOCKED', { to: blocked, value: '1' })
    await says(browser, `It is ${blocked}`)
    const lists = await card('Screening')
    expect(lists).toContain('An address in it is on one of these lists, or a rule of yours')
    expect(lists).toContain('dev-sample')
  })
})

test('nothing that the policies of the pages block was tried', () => {
  expect(browser.complaints.filter((text) => /policy|exception/i.test(text))).toEqual([])
})
