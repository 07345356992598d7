import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentRoutes } from '../../src/http/document-routes.js'
import { type Harness, startHarness } from '../http/harness.js'
import { type Browser, startBrowser } from '../passkey/browser.js'

/** The pages as a browser shows them (`npm run test:pages`). */

const WIDTHS = [390, 1_280]

let harness: Harness
let browser: Browser
beforeAll(async () => {
  harness = await startHarness({ extraRoutes: documentRoutes() })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await harness?.server.close()
})

async function show(path: string, width: number): Promise<void> {
  await browser.resize(width, 800)
  await browser.open(`${harness.baseUrl}${path}`)
  await browser.until(`location.pathname === '${path}' && document.readyState === 'complete'`)
}

describe.each(WIDTHS)('at %i pixels', (width) => {
  it.each(['/', '/docs'])(
    '%s is no wider than the window, and its policy blocks nothing',
    async (path) => {
      await show(path, width)
      expect(await browser.evaluate('innerWidth')).toBe(width)
      expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      )
      const wide = `[...document.querySelectorAll('main *, nav *')].filter((element) =>
      !element.closest('pre, .scroll') && element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 200))`
      expect(await browser.evaluate(wide)).toEqual([])
      expect(browser.complaints).toEqual([])
    },
  )
})

describe('the reference', () => {
  it('has its contents in a menu on a small screen, and at its side on a large one', async () => {
    const isOpen = `document.querySelector('nav details').open`
    await show('/docs', 390)
    expect(await browser.evaluate(isOpen)).toBe(false)
    await browser.click('nav summary')
    await browser.until(isOpen)
    await show('/docs', 1_280)
    expect(await browser.evaluate(isOpen)).toBe(true)
    expect(
      await browser.evaluate(`getComputedStyle(document.querySelector('nav summary')).display`),
    ).toBe('none')
  })

  it('finds operations by what is said of them', async () => {
    await show('/docs', 1_280)
    await browser.evaluate(`(() => {
      const search = document.querySelector('#search')
      search.value = 'gas swap quote'
      search.dispatchEvent(new Event('input'))
    })()`)
    const shown = `[...document.querySelectorAll('main section[id]')].filter((it) => !it.hidden).map((it) => it.id)`
    expect(await browser.evaluate(shown)).toContain('get_gas_swap_quote')
    expect(await browser.evaluate(shown)).not.toContain('create_wallet')
    expect(await browser.evaluate(`document.querySelector('#found').textContent`)).toMatch(
      /^\d+ found$/,
    )
  })

  it('copies what is to be pasted', async () => {
    await show('/docs', 1_280)
    await browser.evaluate(
      `navigator.clipboard.writeText = async (text) => { window.copied = text }`,
    )
    await browser.click('#first-send .code button')
    await browser.until(
      `document.querySelector('#first-send .code button').textContent === 'Copied'`,
    )
    expect(await browser.evaluate('copied')).toContain('/api/limits')
  })
})
