import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import {
  type AuthorizerClient,
  connectAuthorizers,
  issuerOf,
  type Passkey,
} from '../custody/authorizer-client.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type Stack, startStack } from '../e2e/stack.js'
import { verifyAudit } from '../faults/verify-audit.js'
import type { HttpClient, Reply } from '../support/http-client.js'

/** A call that needs two people of an account, with passkeys of their own, on a whole stack. */

const WAIT = { timeout: 30_000, interval: 200 }
const TWO_PEOPLE = {
  default: 'allow',
  rules: [
    {
      ...{ name: 'two people', effect: 'require_approval', when: { operations: ['send'] } },
      approvals: { needed: 2, expires_seconds: 600 },
    },
  ],
}

interface Person {
  readonly personId: string
  /** Signed in to the shared account. */
  readonly there: HttpClient
  /** At the identity provider. */
  readonly client: AuthorizerClient
  readonly passkey: Passkey
}

let stack: Stack
let accountId: string
let agent: HttpClient
beforeAll(async () => {
  stack = await startStack()
  accountId = String((await stack.owner.get('/me')).json.user_id)
  const made = await stack.owner.post('/keys', {
    ...{ name: 'careful', sub_wallet_id: stack.service.dev().sub_wallet_id, permission: 'trade' },
    ...{ daily_limit_usd: '1000', monthly_limit_usd: '1000', policy: TWO_PEOPLE },
  })
  expect(made.status, made.text).toBe(201)
  agent = stack.service.api(String(made.json.secret))
})
afterAll(() => stack?.service.stop())

async function newMember(role: string): Promise<Person> {
  const { home } = stack.service
  const email = `${randomBytes(6).toString('hex')}@example.test`
  const login = { email, password: randomBytes(12).toString('hex') }
  await createUser(join(home, 'identity-provider'), login.email, login.password)
  const origin = `http://localhost:${new URL(issuerOf(home)).port}`
  const client = await connectAuthorizers(home, login, { rpId: 'localhost', origin })
  const passkey = await client.addPasskey()
  const own = stack.service.console(await stack.service.token(login))
  const personId = String((await own.get('/me')).json.user_id)
  const invited = await stack.owner.post('/members', { email, role })
  expect(invited.status, invited.text).toBe(200)
  const joined = await confirmed(passkey, (authorization) =>
    own.post('/invitations/accept', { account_id: accountId, ...authorization }),
  )
  expect(joined.status, joined.text).toBe(200)
  const there = stack.service.console(await stack.service.token({ ...login, account: accountId }))
  return { personId, there, client, passkey }
}

/** Asked first, then with what the passkey says to it. */
async function confirmed(
  { prove }: Passkey,
  ask: (proof: object) => Promise<Reply>,
  field = 'authorization',
): Promise<Reply> {
  const { authorization_id, challenge } = await vi.waitFor(async () => {
    const asked = await ask({})
    expect(asked.code, asked.text).toBe('AUTHORIZATION_REQUIRED')
    return asked.json.error?.details ?? {}
  }, WAIT)
  return ask({ [field]: { authorization_id, ...prove(String(challenge)) } })
}

function approve({ there }: Person, passkey: Passkey, approvalId: string): Promise<Reply> {
  const path = `/approvals/${approvalId}/approve`
  return confirmed(passkey, (proof) => there.post(path, proof), 'proof')
}

async function newCall(): Promise<{ txId: string; approvalId: string }> {
  const sent = await agent.post('/api/tx/send', { chain_id: 8453, to: newAddress(), value: '1' })
  expect(sent.status, sent.text).toBe(202)
  const { approval_id } = sent.json.approval as { approval_id: string }
  return { txId: String(sent.json.tx_id), approvalId: approval_id }
}

test('one person with two passkeys is one; a second person lets the call through', async () => {
  const [bob, cat] = [await newMember('approver'), await newMember('approver')]
  const another = await bob.client.addPasskey(bob.passkey.prove)
  const { txId, approvalId } = await newCall()
  for (const passkey of [bob.passkey, another]) {
    const given = await approve(bob, passkey, approvalId)
    expect(given.json, given.text).toMatchObject({ status: 'pending' })
  }
  const second = await approve(cat, cat.passkey, approvalId)
  expect(second.json, second.text).toMatchObject({ status: 'approved' })
  expect(await finalOf(agent, txId)).toMatchObject({ status: 'confirmed' })
  expect(await verifyAudit(stack.service.home, [])).toEqual([])
})

test('a viewer’s approval is refused by both sides, each by itself', async () => {
  const [bob, dan] = [await newMember('approver'), await newMember('viewer')]
  const { txId, approvalId } = await newCall()
  const path = `/approvals/${approvalId}/approve`
  expect((await dan.there.post(path, {})).code).toBe('PERMISSION_DENIED')
  const challenge = await vi.waitFor(async () => {
    const asked = await bob.there.post(path, {})
    expect(asked.code, asked.text).toBe('AUTHORIZATION_REQUIRED')
    return String(asked.json.error?.details?.challenge)
  }, WAIT)
  const at = ({ client, passkey }: Person) =>
    client.call('approve-call', {
      approval_id: approvalId,
      proof: passkey.prove(challenge),
    })
  const refused = await at(dan)
  expect(refused.status).not.toBe(200)
  expect(refused.json).toMatchObject({ error: { code: 'NOT_GRANTED' } })
  const taken = await at(bob)
  expect(taken.status, JSON.stringify(taken.json)).toBe(200)
  const { decisions } = (await stack.owner.get(`/approvals/${approvalId}`)).json as {
    decisions: readonly unknown[]
  }
  expect(decisions.length).toBeLessThan(2)
  expect((await agent.get(`/api/tx/${txId}`)).json).toMatchObject({ status: 'awaiting_approval' })
})

test('a confirmation is good once, for its own request alone, whatever other tabs ask for', async () => {
  const olga = await newMember('owner')
  const [eve, fay] = [await newLogin(), await newLogin()]
  const invite = (email: string, role: string, proof: object = {}, by = olga.there) =>
    by.post('/members', { email, role, ...proof })
  const asked = async (email: string) => {
    const { code, json } = await invite(email, 'viewer')
    expect(code).toBe('AUTHORIZATION_REQUIRED')
    return json.error?.details ?? {}
  }
  const proofOver = ({ authorization_id, challenge }: Readonly<Record<string, unknown>>) => ({
    authorization: { authorization_id, ...olga.passkey.prove(String(challenge)) },
  })
  // Two tabs.
  const [first, second] = [await asked(eve), await asked(fay)]
  for (const wrong of [
    await invite(eve, 'owner', proofOver(first)),
    await invite(fay, 'viewer', proofOver(first)),
    await invite(eve, 'viewer', proofOver(second)),
    await invite(eve, 'viewer', proofOver(first), stack.owner),
  ]) {
    expect(wrong.code, wrong.text).toBe('AUTHORIZATION_REQUIRED')
  }
  const made = await invite(eve, 'viewer', proofOver(first))
  expect(made.json, made.text).toMatchObject({ authorized_by: 'passkey' })
  // Before anybody is asked for a passkey.
  const invited = await invite(eve, 'viewer')
  expect(invited.code, invited.text).toBe('INVALID_REQUEST')
  expect(invited.text).toContain('a member or invited already')
  const removed = await olga.there.call('DELETE', `/members/${made.json.person_id}`)
  expect(removed.status, removed.text).toBe(200)
  const again = await invite(eve, 'viewer', proofOver(first))
  expect(again.code, again.text).toBe('AUTHORIZATION_REQUIRED')
  const outdated = await invite(fay, 'viewer', proofOver(second))
  expect(outdated.code, outdated.text).toBe('AUTHORIZATION_REFUSED')
  const anew = await invite(fay, 'viewer', proofOver(await asked(fay)))
  expect(anew.status, anew.text).toBe(200)
})

async function newLogin(): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.test`
  const data = join(stack.service.home, 'identity-provider')
  await createUser(data, email, randomBytes(12).toString('hex'))
  return email
}
