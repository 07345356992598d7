import { expect, test } from 'vitest'
import { readConfirmable } from '../../src/custody/authorizers/confirmable.js'
import {
  encodeMemberStatement,
  type MemberStatement,
} from '../../src/custody/members/member-statement.js'
import { confirmPage } from '../../src/identity-provider/authorizers/confirm-page.js'

/** What an owner reads before a passkey confirms what a person may. */

const STATEMENT: MemberStatement = {
  ...{ action: 'change', role: 'owner', accountId: 'user_ada', sequence: 3 },
  ...{ personId: 'user_bob', email: 'bob@example.test', byId: 'user_ada' },
  ...{ acceptBeforeMs: 0, confirmBeforeMs: 2_000_000 },
}

function page(statement: MemberStatement, before: string | null): string {
  const asked = readConfirmable(encodeMemberStatement(statement))
  const change = asked.lines.map(([name, value]) => ({
    ...{ name, value, before: name === 'To' ? before : null },
  }))
  const names = { key: null, wallet: null }
  const of = { email: 'ada@example.test', rpId: 'localhost', signInPath: '/', nowMs: 1_000_000 }
  return confirmPage({ ...of, asked, names, change, policies: null })
}

test('a changed role is shown as it is and as it will be', () => {
  const html = page(STATEMENT, 'viewer')
  expect(html).toMatch(/<del>.*viewer.*<\/del>.*<ins>.*owner.*<\/ins>/)
  expect(html).toContain('bob@example.test')
  expect(html).toContain('everything: keys, approvals, members')
})

test('who is invited is shown with what they then may', () => {
  const html = page({ ...STATEMENT, action: 'invite', role: 'viewer', acceptBeforeMs: 9e11 }, null)
  expect(html).not.toContain('<del>')
  expect(html).toContain('Invite')
  expect(html).toContain('see everything')
})

test('an acceptance says which account is joined, and a removal is nothing to confirm', () => {
  const accept = { ...STATEMENT, action: 'accept', byId: 'user_bob' } as const
  expect(page(accept, null)).toContain('Join this account')
  const removal = encodeMemberStatement({ ...STATEMENT, action: 'remove' })
  expect(() => readConfirmable(removal)).toThrow('what takes away needs no proof')
})
