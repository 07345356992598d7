import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { type Stack, startStack } from '../e2e/stack.js'
import { type Browser, startBrowser } from '../passkey/browser.js'
import { heading, loaded, pressOn, pressWords, says, signIn, tabTo, visit } from './keyboard.js'
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

test('an owner invites a person, and has a link to send', async () => {
  await visit(ada, '/members', 'Members')
  await pressWords(ada, 'Invite a person')
  await tabTo(ada, 'dialog input[name=email]')
  await ada.type(BOB.email)
  await pressWords(ada, 'Invite', 'dialog')
  await says(ada, 'Send them this link.')
  await expectFit(ada, 'member-invited')
  await pressWords(ada, 'Done', 'dialog')
  await says(ada, 'invited')
  await expectFit(ada, 'members')
})

/** Until the menu of the account says so, asked for consent or not. */
async function comesTo(browser: Browser, words: string): Promise<void> {
  const isThere = `document.querySelector('#account')?.textContent.includes('${words}') === true`
  const consent = `document.querySelector('form[action$=consent]') !== null`
  await browser.until(`(${isThere}) || ${consent}`)
  if (!(await browser.evaluate(isThere))) await pressOn(browser, 'form[action$=consent] button')
  await browser.until(isThere)
}

test('the person accepts, and goes to the account', async () => {
  await visit(bob, '/members', 'Members')
  await says(bob, 'You are invited')
  await expectFit(bob, 'invitation')
  await pressWords(bob, 'Accept')
  await pressWords(bob, 'Accept', 'dialog')
  await bob.until(`!document.querySelector('main').innerText.includes('You are invited')`)
  await pressOn(bob, '.account-button')
  const accountId = String((await stack.owner.get('/me')).json.user_id)
  await bob.evaluate(
    `[...document.querySelectorAll('#account button')].find((it) => it.innerText.includes('${accountId}')).click()`,
  )
  await comesTo(bob, 'viewer of this account')
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
  await pressWords(ada, 'Change role')
  await tabTo(ada, 'dialog select[name=role]')
  await pressWords(ada, 'Change role', 'dialog')
  await says(ada, 'Not possible')
  await pressWords(ada, 'Cancel', 'dialog')
  await ada.evaluate(
    `[...document.querySelectorAll('main tr')].find((it) => it.innerText.includes('${BOB.email}')).querySelector('.danger-quiet').dataset.wanted = 'bob'`,
  )
  await pressOn(ada, 'main button[data-wanted="bob"]')
  await pressWords(ada, 'Remove', 'dialog')
  await bob.until(`document.querySelector('h1')?.textContent === 'Not signed in'`)
  // Of the role that is what it is already.
  const refused = 'the server responded with a status of 400'
  expect(ada.complaints.filter((one) => !one.includes(refused))).toEqual([])
})

test('whoever left their own account is told so, and finds the way to another', async () => {
  const own = stack.service.console(await stack.service.token(BOB))
  const { user_id: bobId } = (await own.get('/me')).json
  const { user_id: adaId } = (await stack.owner.get('/me')).json
  const { email } = stack.service.dev().user
  for (const [from, to, invited, account_id] of [
    [own, stack.owner, { email, role: 'owner' }, bobId],
    [stack.owner, own, { email: BOB.email, role: 'approver' }, adaId],
  ] as const) {
    expect((await from.post('/members', invited)).status).toBe(200)
    expect((await to.post('/invitations/accept', { account_id })).status).toBe(200)
  }
  await pressWords(bob, 'Sign in')
  await comesTo(bob, `To ${String(adaId)} (approver)`)
  await visit(bob, '/members', 'Members')
  await bob.evaluate(
    `[...document.querySelectorAll('main tr')].find((it) => it.innerText.includes('you')).querySelector('.danger-quiet').dataset.wanted = 'own'`,
  )
  await pressOn(bob, 'main button[data-wanted="own"]')
  await pressWords(bob, 'Leave', 'dialog')
  await says(bob, 'You are not a member of this account, or no longer are.')
  await expectFit(bob, 'left-account')
  await pressWords(bob, 'Go there')
  await comesTo(bob, 'approver of this account')
})

test('whoever is in no account any more is told so, and can sign in as another person', async () => {
  const { members } = (await stack.owner.get('/members')).json
  const place = (members as Record<string, unknown>[]).find(({ email }) => email === BOB.email)
  await visit(bob, '/members', 'Members')
  await pressWords(bob, 'Leave')
  await says(bob, 'This is your only account.', 'dialog')
  await expectFit(bob, 'leave-last-account')
  await pressWords(bob, 'Cancel', 'dialog')
  expect((await stack.owner.call('DELETE', `/members/${place?.person_id}`)).status).toBe(200)
  await bob.until(`document.querySelector('h1')?.textContent === 'Not signed in'`)
  await pressWords(bob, 'Sign in')
  await bob.until(heading('You are not a member of any account'))
  await expectFit(bob, 'no-account')
  await pressWords(bob, 'Sign in as another person')
  await bob.until(loaded('button[name=logout]'))
  await pressOn(bob, 'button[name=logout]')
  await bob.until(heading('Signed out'))
  await pressWords(bob, 'Sign in')
  // The provider asks who it is, in place of going on with who it was.
  await bob.until(`document.querySelector('#email') !== null`)
  await signIn(bob, stack.service.dev().user, heading('Overview'))
})
