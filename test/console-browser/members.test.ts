import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { heading, pressOn, signIn, tabTo, visit } from './keyboard.js'
import { expectFit } from './views.js'

/** Two persons and one account, by the keyboard: invited, come, held to a role, and removed. */

const BOB = {
  email: `${randomBytes(6).toString('hex')}@example.test`,
  password: 'bob has a password',
}

let stack: Stack
let ada: Browser
let bob: Browser
beforeAll(async () => {
  ;[ada, bob] = [await startBrowser(), await startBrowser()]
  stack = await startStack()
  await createUser(join(stack.service.home, 'identity-provider'), BOB.email, BOB.password)
  for (const [browser, user] of [
    [ada, stack.service.dev().user],
    [bob, BOB],
  ] as const) {
    await browser.resize(1_280, 900)
    await browser.open(`${stack.service.dev().base_url}/console`)
    await browser.until(`document.querySelector('#email') !== null`)
    await signIn(browser, user, heading('Overview'))
  }
})
afterAll(async () => {
  await ada?.close()
  await bob?.close()
  await stack?.service.stop()
})

/** A button by its words, once it is there. */
async function press(browser: Browser, words: string, within = 'main'): Promise<void> {
  const button = `[...document.querySelectorAll('${within} button')].find((it) => it.innerText.trim() === '${words}' && !it.disabled)`
  await browser.until(`${button} !== undefined`)
  await browser.evaluate(`${button}.dataset.wanted = '${words}'`)
  await pressOn(browser, `${within} button[data-wanted="${words}"]`)
}

const says = (browser: Browser, text: string) =>
  browser.until(`document.querySelector('main')?.innerText.includes(${JSON.stringify(text)})`)

test('an owner invites a person, and has a link to send', async () => {
  await visit(ada, '/members', 'Members')
  await press(ada, 'Invite a person')
  await tabTo(ada, 'dialog input[name=email]')
  await ada.type(BOB.email)
  await press(ada, 'Invite', 'dialog')
  await says(ada, 'Send them this link')
  await expectFit(ada, 'member-invited')
  await press(ada, 'Done', 'dialog')
  await says(ada, 'invited')
  await expectFit(ada, 'members')
})

test('the person accepts, and goes to the account', async () => {
  await visit(bob, '/members', 'Members')
  await says(bob, 'You are invited')
  await expectFit(bob, 'invitation')
  await press(bob, 'Accept')
  await press(bob, 'Accept', 'dialog')
  await bob.until(`!document.querySelector('main').innerText.includes('You are invited')`)
  await pressOn(bob, '.account-button')
  const accountId = String((await stack.owner.get('/me')).json.user_id)
  await bob.evaluate(
    `[...document.querySelectorAll('#account button')].find((it) => it.innerText.includes('${accountId}')).click()`,
  )
  const isThere = `${heading('Overview')} && document.querySelector('#account').textContent.includes('viewer of this account')`
  await bob.until(`(${isThere}) || document.querySelector('form[action$=consent]') !== null`)
  if (!(await bob.evaluate(isThere))) await pressOn(bob, 'form[action$=consent] button')
  await bob.until(isThere)
})

test('what the role cannot do is not offered', async () => {
  expect(await bob.evaluate(`document.querySelector('header button.danger') === null`)).toBe(true)
  await visit(bob, '/members', 'Members')
  await says(bob, 'viewer')
  const words = await bob.evaluate(
    `[...document.querySelectorAll('main button')].map((it) => it.innerText.trim())`,
  )
  expect(words).toEqual(['Leave'])
})

test('whoever was removed is signed out of the account within seconds', async () => {
  await visit(ada, '/members', 'Members')
  await says(ada, BOB.email)
  await press(ada, 'Change role')
  await tabTo(ada, 'dialog select[name=role]')
  await press(ada, 'Change role', 'dialog')
  await says(ada, 'Not possible')
  await press(ada, 'Cancel', 'dialog')
  await ada.evaluate(
    `[...document.querySelectorAll('main tr')].find((it) => it.innerText.includes('${BOB.email}')).querySelector('.danger-quiet').dataset.wanted = 'bob'`,
  )
  await pressOn(ada, 'main button[data-wanted="bob"]')
  await press(ada, 'Remove', 'dialog')
  await bob.until(`document.querySelector('h1')?.textContent === 'Not signed in'`)
  // Of the role that is what it is already.
  const refused = 'the server responded with a status of 400'
  expect(ada.complaints.filter((one) => !one.includes(refused))).toEqual([])
})
