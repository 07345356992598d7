import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Tab } from '../passkey/browser.js'
import { seriousFindings } from './findings.js'

const SCREENSHOTS = join(import.meta.dirname, 'screenshots')
const WINDOW_HEIGHT = 900
/** What people have: a desk and a phone, light and dark. */
const VIEWS = [
  [1_280, 'light'],
  [1_280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const

/** For people to look at. */
export async function shoot(tab: Tab, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  writeFileSync(join(SCREENSHOTS, `${name}.png`), await tab.screenshot())
}

/** In all views nothing may be wider than the window, or keep anybody out. Ends in the first. */
export async function expectFit(tab: Tab, name: string): Promise<void> {
  try {
    for (const [width, scheme] of VIEWS) {
      await tab.resize(width, WINDOW_HEIGHT)
      await tab.setColorScheme(scheme)
      await tab.evaluate(END_TRANSITIONS)
      const view = `${name}-${width}-${scheme}`
      expect(await tab.evaluate(widerThan(width)), view).toEqual([])
      expect(await seriousFindings(tab), view).toEqual([])
      await shoot(tab, view)
    }
  } finally {
    const [[width, scheme]] = VIEWS
    await tab.setColorScheme(scheme)
    await tab.resize(width, WINDOW_HEIGHT)
  }
}

/** Half way from one scheme to the other a card has a colour that nobody chose. */
const END_TRANSITIONS = `document.getAnimations()
  .filter((it) => it instanceof CSSTransition)
  .forEach((it) => it.finish())`

/** What lies in a box that scrolls may be wider than it. */
const widerThan = (width: number) => `[...document.querySelectorAll('main *, header *')]
  .filter((it) => it.getBoundingClientRect().right > ${width} && !it.closest('.hidden'))
  .filter((it) => {
    const box = it.parentElement?.closest('pre')
    return !box || getComputedStyle(box).whiteSpace !== 'pre'
  })
  .map((it) => it.outerHTML.slice(0, 120))`
