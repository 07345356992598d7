import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApprovalTerm, encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import { readConfirmable } from '../../src/custody/authorizers/confirmable.js'
import { describeGrantChange } from '../../src/custody/authorizers/describe-grant-change.js'
import {
  encodeGrantStatement,
  type GrantStatement,
} from '../../src/custody/authorizers/grant-statement.js'
import { canonicalGrant } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { documentRoutes } from '../../src/http/document-routes.js'
import type { ExtraRoute } from '../../src/http/routes.js'
import { approvalPage } from '../../src/identity-provider/approvals/approval-page.js'
import { confirmPage } from '../../src/identity-provider/authorizers/confirm-page.js'
import {
  loginPage,
  scriptedPagePolicy,
  signInPolicy,
} from '../../src/identity-provider/login/pages.js'
import type { ApprovalRow } from '../../src/identity-provider/vault/approval-rows.js'
import { LEAST_POLICY } from '../../src/policy/common-policy.js'
import { type Harness, startHarness } from '../http/harness.js'
import { type Browser, startBrowser } from '../passkey/browser.js'

/** The pages as a browser shows them (`npm run test:long -- pages`). */

const WIDTHS = [390, 1_280]

const someBytes = (length: number) => new Uint8Array(length).fill(7)
const PERSON = 'a.person.with.a.long.name@department.of.a.large.company.example'
const STATEMENT: GrantStatement = {
  ...canonicalGrant(INITIAL_POLICY),
  ...{ keyId: someBytes(16), grantId: someBytes(16), walletId: someBytes(16), version: 1 },
  ...{ ownerHash: someBytes(32), revoked: false, rotatedFrom: null, expiresAtMs: null },
  parentId: null,
  ...{ proofKeyDigest: someBytes(32), confirmBeforeMs: 1_763_631_000_000 },
}
const TRANSFER = `0xa9059cbb${'07'.padStart(64, '0')}${'09'.padStart(64, '0')}` as const
const TERM: ApprovalTerm = {
  ...{ kind: 'transaction', approvalId: someBytes(16), walletId: someBytes(16) },
  ...{ keyId: someBytes(16), ownerHash: someBytes(32), chainId: 8453, to: someBytes(20) },
  ...{ value: 10n ** 18n, hash: someBytes(32), maxNativeWei: 1n, expiresAtMs: 3_600_000 },
}
const WAITING: ApprovalRow = {
  ...{ term: encodeApprovalTerm(TERM), userId: PERSON, askedAtMs: 0, needed: 2, delaySeconds: 0 },
  ...{
    rule: 'r'.repeat(64),
    spendUsd: '1234567.89',
    askedAgain: null,
    payeeLabel: PERSON,
    approvals: [],
    ended: null,
  },
}
/** Those of the identity provider, as it makes them and under its policies. */
const IDENTITY_PAGES = [
  page(
    '/login',
    signInPolicy(null),
    loginPage({
      ...{ interactionPath: '/i', purpose: 'to decide on a call', email: PERSON },
      problem: 'That email and password do not fit.',
      passkey: { challenge: 'AA', rpId: 'id.example.com', script: '/sign-in/passkey.js' },
    }),
  ),
  page(
    '/confirm',
    scriptedPagePolicy(),
    confirmPage({
      ...{ email: PERSON, rpId: 'localhost', signInPath: '/i', nowMs: 1_763_630_500_000 },
      names: { key: 'Payroll bot', wallet: 'w'.repeat(128) },
      asked: readConfirmable(encodeGrantStatement(STATEMENT)),
      change: describeGrantChange(STATEMENT, {
        ...STATEMENT,
        ...{ dailyLimitMicros: 25_000_000n, allowedChains: [1] },
      }),
      policies: { before: LEAST_POLICY, next: null },
    }),
  ),
  page(
    '/approve',
    scriptedPagePolicy(),
    approvalPage({
      ...{ email: PERSON, rpId: 'localhost', signInPath: '/i', nowMs: 0 },
      waiting: {
        ...{ row: WAITING, term: TERM, call: Buffer.from(TRANSFER.slice(2), 'hex') },
        ...{ approvers: [], people: 0, tokens: new Map() },
      },
    }),
  ),
]

const PATHS = ['/', '/docs', ...IDENTITY_PAGES.map(({ path }) => path)]

function page(path: string, policy: string, html: string): ExtraRoute {
  // The scripts of these pages are served by the identity provider.
  const body = Buffer.from(html.replace(/<script[^>]*><\/script>/g, ''))
  const contentType = 'text/html; charset=utf-8'
  return {
    method: 'GET',
    path,
    name: path.slice(1),
    handle: (exchange) =>
      exchange.send({
        ...{ status: 200, body, contentType },
        headers: [['Content-Security-Policy', policy]],
      }),
  }
}

let harness: Harness
let browser: Browser
beforeAll(async () => {
  harness = await startHarness({ extraRoutes: [...documentRoutes(), ...IDENTITY_PAGES] })
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
  it.each(PATHS)('%s is no wider than the window, and its policy blocks nothing', async (path) => {
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
  })

  describe.each(['light', 'dark'] as const)('in %s colours', (scheme) => {
    it.each(PATHS)('%s has nothing that keeps people out, by the rules of axe', async (path) => {
      await browser.setColorScheme(scheme)
      await show(path, width)
      // Not as a script of the page: its policy would block that, and rightly.
      await browser.evaluate(axe.source)
      const found = await browser.evaluate(`axe.run(document).then(({ violations, passes }) => ({
        rules: passes.length,
        serious: violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html }) => html.slice(0, 200))]),
      }))`)
      expect(found).toMatchObject({ serious: [] })
      expect(found).toHaveProperty(
        'rules',
        expect.toSatisfy((rules: number) => rules > 8),
      )
    })
  })
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
