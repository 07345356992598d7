import { expect, test } from 'vitest'
import { readConfirmable } from '../../src/custody/authorizers/confirmable.js'
import { changeOf } from '../../src/custody/authorizers/describe-grant-change.js'
import {
  encodeGrantStatement,
  type GrantStatement,
} from '../../src/custody/authorizers/grant-statement.js'
import { canonicalGrant, type GrantTerms } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { confirmPage } from '../../src/identity-provider/authorizers/confirm-page.js'
import { parsePolicy } from '../../src/policy/parse-policy.js'
import type { Policy } from '../../src/policy/policy.js'
import { sameBytes } from '../../src/quorum-protocol/bytes.js'

const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill)
const KEY = bytes(16, 1)
const WIDER = bytes(16, 2)
const NARROW: GrantTerms = {
  ...{ ...canonicalGrant(INITIAL_POLICY), expiresAtMs: null },
  dailyLimitMicros: 10_000_000n,
}
const WIDE: GrantTerms = { ...NARROW, dailyLimitMicros: 900_000_000n }
const STATEMENT: GrantStatement = {
  ...WIDE,
  ...{ keyId: KEY, grantId: KEY, walletId: bytes(16, 3), version: 2, parentId: null },
  ...{ ownerHash: bytes(32, 4), revoked: false, rotatedFrom: null },
  ...{ proofKeyDigest: null, confirmBeforeMs: 1_763_631_000_000 },
}

const termsOf = (keyId: Uint8Array) => {
  if (sameBytes(keyId, KEY)) return NARROW
  return sameBytes(keyId, WIDER) ? WIDE : null
}

const changes = (statement: GrantStatement) =>
  changeOf(statement, termsOf)?.filter(({ before }) => before !== null)

test('a change is shown against what its own key may do, whichever key it names besides', () => {
  const own = changes(STATEMENT)
  expect(own?.map(({ before, value }) => [before, value])).toEqual([
    ['up to 10.00 USD', 'up to 900.00 USD'],
  ])
  expect(changes({ ...STATEMENT, rotatedFrom: WIDER })).toEqual(own)
})

test('another secret is shown among what changes; that of a new key is no change', () => {
  const proofKeyDigest = bytes(32, 5)
  const replaced = changes({ ...STATEMENT, proofKeyDigest })
  expect(replaced?.map(({ name, before, value }) => [name, before, value])).toEqual([
    ['A day', 'up to 10.00 USD', 'up to 900.00 USD'],
    ['Secret', 'the one there is', 'another one'],
  ])
  const linesOf = (statement: GrantStatement) =>
    readConfirmable(encodeGrantStatement(statement)).lines.map(([name]) => name)
  expect(linesOf({ ...STATEMENT, version: 1, proofKeyDigest })).not.toContain('Secret')
})

test('a new key is shown whole, also one that names another', () => {
  const keyId = bytes(16, 9)
  expect(changeOf({ ...STATEMENT, keyId, rotatedFrom: WIDER }, termsOf)).toBeNull()
})

test('what changes nothing in words is shown whole', () => {
  const html = confirmPage({
    asked: readConfirmable(encodeGrantStatement({ ...STATEMENT, ...NARROW })),
    change: changeOf({ ...STATEMENT, ...NARROW }, termsOf),
    ...{ names: { key: null, wallet: null }, policies: null },
    ...{ email: 'a@example.com', rpId: 'localhost', signInPath: '/i', nowMs: 0 },
  })
  expect(html).toContain('up to 10.00 USD')
  expect(html).not.toContain('<details>')
})

const PAYEE = '0x1111111111111111111111111111111111111111'
const paying = (...beneficiaries: readonly string[]): Policy => {
  const rules = [{ name: '<b>suppliers</b>', effect: 'allow', when: { beneficiaries } }]
  const parsed = parsePolicy({ rules, default: 'deny' })
  if (!parsed.ok) throw new Error('not a policy')
  return parsed.policy
}
const pageOf = (policies: { before: Policy | null; next: Policy | null } | null) =>
  confirmPage({
    asked: readConfirmable(encodeGrantStatement(STATEMENT)),
    change: changeOf(STATEMENT, termsOf),
    ...{ names: { key: null, wallet: null }, policies },
    ...{ email: 'a@example.com', rpId: 'localhost', signInPath: '/i', nowMs: 0 },
  })

test('a wider policy is shown by a call that it lets through, before the passkey is asked', () => {
  const wider = pageOf({ before: paying(USDC), next: paying(USDC, PAYEE) })
  const [example = ''] = /<ul class="examples">.*<\/ul>/s.exec(wider) ?? []
  expect(example).toContain('refused by <code><bdi>default</bdi></code> before')
  expect(example).toContain(PAYEE)
  // A rule's name is anybody's words.
  expect(example).toContain('&#60;b&#62;suppliers')
  expect(wider.indexOf(example)).toBeLessThan(wider.indexOf('id="confirm"'))
  const narrower = pageOf({ before: paying(USDC, PAYEE), next: paying(USDC) })
  expect(narrower).toContain('The rules for single calls get no wider.')
  expect(pageOf(null)).not.toContain('single calls')
})
