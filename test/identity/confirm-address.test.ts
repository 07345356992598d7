import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import {
  encodeGrantStatement,
  type GrantStatement,
  STATEMENT_BYTES_MAX,
} from '../../src/custody/authorizers/grant-statement.js'
import { canonicalGrant } from '../../src/domain/grant-terms.js'
import { type Address, ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { AuthorizerCeremonies } from '../../src/identity-provider/authorizers/ceremonies.js'
import { createAuthorizerRoutes } from '../../src/identity-provider/authorizers/routes.js'
import type { UserSideApprovals } from '../../src/identity-provider/vault/approvals.js'
import { ADDRESSES_MAX } from '../../src/policy/bounds.js'
import { canonicalText } from '../../src/policy/canonical-policy.js'
import type { Policy } from '../../src/policy/policy.js'
import { POLICY_TEMPLATES } from '../../src/policy/templates.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { policyOf, USDC } from '../policy/random-policies.js'
import { createSignInBrowser, type SignInBrowser } from '../support/sign-in-browser.js'
import { EMAIL, PASSWORD, type RunningLogin, runLogin } from './login-fixture.js'

/** The address at which people confirm a grant holds all of it, whatever policy that has. */

let login: RunningLogin
let origin: string
let person: SignInBrowser
let userId: string
const left: Uint8Array[] = []
const PAYEES_MAX = 330

beforeAll(async () => {
  login = await runLogin()
  origin = login.issuer.replace('127.0.0.1', 'localhost')
  const ceremonies: Pick<AuthorizerCeremonies, 'list' | 'leaveProof' | 'mayConfirm'> = {
    list: () => [],
    mayConfirm: () => true,
    leaveProof: async (_userId, statement) => void left.push(statement),
  }
  login.mount((parts) =>
    createAuthorizerRoutes({
      members: { roleOf: () => null },
      ...parts,
      ceremonies: ceremonies as AuthorizerCeremonies,
      approvals: {} as UserSideApprovals,
      termsOf: () => null,
      webauthn: () => ({ rpId: 'localhost', origins: [origin] }),
      verifyToken: () => Promise.reject(new Error('no tokens here')),
    }),
  )
  person = createSignInBrowser({ email: EMAIL, password: PASSWORD })
  await person.open(`${origin}/authorizers`)
  userId = await ownId()
})
afterAll(() => login.stop())

test.each([
  ['a few payees', 2],
  ['as many payees as a policy has room for', PAYEES_MAX],
])('a grant with a policy of %s is shown and confirmed', async (_what, payees) => {
  const statement = statementOf(payeesOnly(payees))
  const address = addressOf(statement)
  const { html } = await person.open(address)
  expect(html).toContain('Confirm what this API key may do')
  expect(html).toContain(payeeOf(payees - 1))
  const grant = Buffer.from(statement).toString('base64url')
  const signature = Buffer.alloc(64).toString('base64url')
  const proof = { authorizer_id: `aut_${'0'.repeat(32)}`, signature }
  const confirmed = await api('confirm', { grant, proof })
  expect(await confirmed.json()).toEqual({ status: 'confirmed' })
  expect(left.at(-1)).toEqual(Buffer.from(statement))
})

test('who is not signed in is told to come back where the address is too long to lead back', async () => {
  const stranger = createSignInBrowser({ email: EMAIL, password: PASSWORD })
  const short = await stranger.look(addressOf(statementOf(payeesOnly(2))))
  expect(short.html).toContain('Sign in')
  expect(short.url.pathname).toMatch(/^\/interaction\//)
  const { html } = await stranger.look(addressOf(statementOf(payeesOnly(PAYEES_MAX))))
  expect(html).toContain('Sign in first')
})

test('a call is approved where it can be read, and not by the hash of its calldata', async () => {
  const approvalId = ulidBytes('apr_01ARZ3NDEKTSV4RRFFQ69G5FAV')
  const bytes = (length: number) => new Uint8Array(length).fill(7)
  const term = encodeApprovalTerm({
    ...{ kind: 'transaction', approvalId, walletId: bytes(16), keyId: bytes(16) },
    ...{ ownerHash: sha256(Buffer.from(userId)), chainId: 8453, to: bytes(20), value: 0n },
    ...{ hash: bytes(32), maxNativeWei: 1n, expiresAtMs: Date.now() + 600_000 },
  })
  const url = addressOf(term)
  const headers = { cookie: person.cookies(new URL(url)) }
  const response = await fetch(url, { redirect: 'manual', headers })
  expect(response.headers.get('location')).toBe('/approve/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV')
})

test('no statement is longer than what is taken', () => {
  const largest = statementOf(payeesOnly(PAYEES_MAX))
  expect(largest.length).toBeGreaterThan(15_000)
  expect(largest.length).toBeLessThan(STATEMENT_BYTES_MAX)
})

function api(path: string, body: object): Promise<Response> {
  const url = new URL(`/authorizers/api/${path}`, origin)
  return fetch(url, {
    method: 'POST',
    headers: { cookie: person.cookies(url), origin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function ownId(): Promise<string> {
  const url = new URL('/authorizers/api/list', origin)
  const response = await fetch(url, { headers: { cookie: person.cookies(url) } })
  return String(((await response.json()) as { user_id: string }).user_id)
}

function payeeOf(index: number): Address {
  return `0x${(index + 1).toString(16).padStart(40, '0')}`
}

/** In rules of as many as one may name. */
function payeesOnly(count: number): Policy {
  const payees = Array.from({ length: count }, (_, index) => payeeOf(index))
  const terms = { chainId: 8453, token: USDC, tokensOut: [USDC], perDay: '1000000' }
  const [one, other] = [payees.slice(0, ADDRESSES_MAX), payees.slice(ADDRESSES_MAX)].map((some) =>
    POLICY_TEMPLATES.payments.write({ ...terms, payees: some }),
  )
  const [rule] = other?.rules ?? []
  const more = count > ADDRESSES_MAX && rule !== undefined ? [{ ...rule, name: 'more' }] : []
  return policyOf({ ...one, rules: [...(one?.rules ?? []), ...more] })
}

function statementOf(policy: Policy): Buffer {
  const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill)
  const grant: GrantStatement = {
    ...{ ...canonicalGrant(INITIAL_POLICY), policy, expiresAtMs: null },
    ...{ keyId: bytes(16, 1), grantId: bytes(16, 1), walletId: bytes(16, 3), version: 1 },
    ...{ ownerHash: sha256(Buffer.from(userId)), revoked: false, rotatedFrom: null },
    ...{ parentId: null, proofKeyDigest: bytes(32, 5), confirmBeforeMs: Date.now() + 600_000 },
  }
  expect(canonicalText(policy).length).toBeGreaterThan(600)
  return encodeGrantStatement(grant)
}

function addressOf(statement: Uint8Array): string {
  const grant = Buffer.from(statement).toString('base64url')
  return `${origin}/authorizers/confirm?${new URLSearchParams({ grant, key: 'agent', wallet: 'mine' })}`
}
