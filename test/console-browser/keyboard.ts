import type { DevFile } from '../../scripts/dev/dev-file.js'
import type { Tab } from '../passkey/browser.js'

/** More than any page has to stop at. */
const STOPS_MAX = 120

/** Presses Tab until the focus is on what the selector names, as people without a mouse do. */
export async function tabTo(tab: Tab, selector: string): Promise<void> {
  await tab.until(`document.querySelector(${JSON.stringify(selector)}) !== null`)
  const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`
  for (let stops = 0; stops < STOPS_MAX; stops++) {
    if (await tab.evaluate(isThere)) return
    await tab.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${selector}`)
}

export async function pressOn(tab: Tab, selector: string): Promise<void> {
  await tabTo(tab, selector)
  await tab.press('Enter')
}

/** A button or link by its words, once it is there. */
export async function pressWords(tab: Tab, words: string, within = 'main'): Promise<void> {
  const text = JSON.stringify(words)
  const found = `[...document.querySelectorAll('${within} button, ${within} a.button')]
    .find((it) => [it.innerText.trim(), it.ariaLabel].includes(${text}) && !it.disabled)`
  await tab.until(`${found} !== undefined`)
  await tab.evaluate(`${found}.dataset.wanted = ${text}`)
  await pressOn(tab, `[data-wanted=${text}]`)
}

/** A page of the identity provider, whose script is there once all of it is: until then a button does nothing. */
export const loaded = (selector: string) =>
  `document.readyState === 'complete' && document.querySelector('${selector}') !== null`

/** In place of what is in a field. */
export async function fillIn(tab: Tab, selector: string, text: string): Promise<void> {
  await tabTo(tab, selector)
  await tab.evaluate('document.activeElement.select()')
  await tab.type(text)
}

export const says = (tab: Tab, text: string, within = 'main') =>
  tab.until(
    `document.querySelector('${within}')?.innerText.includes(${JSON.stringify(text)}) === true`,
  )

/** From the sign-in page to where it leads, asked for consent or not. */
export async function signIn(
  tab: Tab,
  { email, password }: { readonly email: string; readonly password: string },
  arrived: string,
): Promise<void> {
  await tabTo(tab, '#email')
  await tab.type(email)
  await tabTo(tab, '#password')
  await tab.type(password)
  await tab.press('Enter')
  await tab.until(`${arrived} || document.querySelector('form[action$=consent]') !== null`)
  if (await tab.evaluate(arrived)) return
  await pressOn(tab, 'form[action$=consent] button')
  await tab.until(arrived)
}

/** The console in a window of some size, for the person who signs in there. */
export async function openConsole(
  tab: Tab,
  { base_url, user }: Pick<DevFile, 'base_url' | 'user'>,
): Promise<void> {
  await tab.resize(1_280, 900)
  await tab.open(`${base_url}/console`)
  await tab.until(`document.querySelector('#email') !== null`)
  await signIn(tab, user, heading('Overview'))
}

export const heading = (title: string) => `document.querySelector('h1')?.textContent === '${title}'`

/**
 * By the navigation at the side.
 *
 * @throws Error when the page was seen before its heading had the focus: a key would be lost
 */
export async function visit(tab: Tab, path: string, title: string): Promise<void> {
  const wasThere = await tab.evaluate(heading(title))
  await pressOn(tab, `nav.side a[href="/console${path}"]`)
  await tab.until(heading(title))
  const hasFocus = `document.activeElement === document.querySelector('h1')`
  // A link to the page that is there narrows it otherwise, and keeps the focus.
  if (!wasThere && !(await tab.evaluate(hasFocus)))
    throw new Error(`${title}: no focus on its heading`)
  await settled(tab)
}

/** Until what the page asked for is there. */
export async function settled(tab: Tab): Promise<void> {
  await tab.until(`document.querySelector('main .spinner') === null`)
}

/** Of what is chosen in a select, by the keyboard: the select is reached, and says what it has. */
export async function choose(tab: Tab, selector: string, value: string): Promise<void> {
  await tabTo(tab, selector)
  await tab.evaluate(`(() => {
    const select = document.activeElement
    select.value = ${JSON.stringify(value)}
    select.dispatchEvent(new Event('change', { bubbles: true }))
  })()`)
}
