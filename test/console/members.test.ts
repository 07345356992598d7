import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { countersignOk } from '../custody/command.js'
import { STRANGER } from '../custody/harness.js'
import { issueKey, type Stack, startStack } from '../e2e/stack.js'
import { verifyAudit } from '../faults/verify-audit.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'

/** Members of an account, from the invitation to the removal, on a whole stack. */

const WAIT = { timeout: 30_000, interval: 100 }

interface Person {
  readonly email: string
  readonly password: string
  readonly personId: string
  readonly own: HttpClient
}

let stack: Stack
let accountId: string
let bob: Person
beforeAll(async () => {
  stack = await startStack()
  accountId = String((await stack.owner.get('/me')).json.user_id)
  bob = await newPerson()
})
afterAll(() => stack?.service.stop())

async function newPerson(): Promise<Person> {
  const email = `${randomBytes(6).toString('hex')}@example.test`
  const password = randomBytes(12).toString('hex')
  await createUser(join(stack.service.home, 'identity-provider'), email, password)
  const own = stack.service.console(await stack.service.token({ email, password }))
  const personId = String((await own.get('/me')).json.user_id)
  return { email, password, personId, own }
}

/** Signed in to the shared account. */
async function inAccount({ email, password }: Person): Promise<HttpClient> {
  return stack.service.console(await stack.service.token({ email, password, account: accountId }))
}

const invite = (person: Person, role: string, by = stack.owner) =>
  by.post('/members', { email: person.email, role })
const accept = ({ own }: Person) => own.post('/invitations/accept', { account_id: accountId })
const remove = (person: Person) => stack.owner.call('DELETE', `/members/${person.personId}`)
const changeRole = ({ personId }: Person, role: string) =>
  stack.owner.call('PATCH', `/members/${personId}`, { body: { role } })

async function newMember(role: string): Promise<Person> {
  const person = await newPerson()
  expect((await invite(person, role)).status).toBe(200)
  expect((await accept(person)).status).toBe(200)
  return person
}

describe('a person who never invited anybody', () => {
  test('is alone in their account, as its owner', async () => {
    expect((await bob.own.get('/me')).json).toMatchObject({
      ...{ user_id: bob.personId, person_id: bob.personId, role: 'owner' },
      ...{ accounts: [{ account_id: bob.personId, role: 'owner' }], invitations: [] },
    })
    const { members } = (await bob.own.get('/members')).json as { members: ReplyBody[] }
    expect(members).toEqual([
      expect.objectContaining({ person_id: bob.personId, role: 'owner', status: 'member' }),
    ])
  })
})

describe('an invitation', () => {
  test('is for whom it names, once, and gives what it says', async () => {
    const cat = await newPerson()
    const invited = await invite(bob, 'viewer')
    expect(invited.status, invited.text).toBe(200)
    expect(invited.json).toMatchObject({ email: bob.email, authorized_by: 'software' })
    expect((await invite(bob, 'owner')).code).toBe('INVALID_REQUEST')
    expect((await accept(cat)).code).toBe('NOT_FOUND')
    await expect(inAccount(bob)).rejects.toThrow('invalid_grant')
    const { invitations } = (await bob.own.get('/me')).json as { invitations: ReplyBody[] }
    expect(invitations).toMatchObject([{ account_id: accountId, role: 'viewer' }])
    const accepted = await accept(bob)
    expect(accepted.json, accepted.text).toMatchObject({ account_id: accountId, role: 'viewer' })
    expect((await accept(bob)).code).toBe('NOT_FOUND')
    expect((await (await inAccount(bob)).get('/me')).json).toMatchObject({
      ...{ user_id: accountId, person_id: bob.personId, role: 'viewer', invitations: [] },
      accounts: [
        { account_id: bob.personId, role: 'owner' },
        { account_id: accountId, role: 'viewer' },
      ],
    })
  })

  test('answers alike whether or not anybody signs in by the address', async () => {
    const known = await newPerson()
    const addresses = [
      known.email.toUpperCase(),
      `Nobody-${randomBytes(6).toString('hex')}@example.test`,
    ]
    const answers = []
    for (const email of addresses) {
      const { status, json } = await stack.owner.post('/members', { email, role: 'viewer' })
      const { members } = (await stack.owner.get('/members')).json as { members: ReplyBody[] }
      const listed = members.find(({ person_id }) => person_id === json.person_id)
      const removed = await stack.owner.call('DELETE', `/members/${String(json.person_id)}`)
      const blank = { person_id: typeof json.person_id, accept_before: 'a time' }
      expect([json.email, listed?.email]).toEqual([email.toLowerCase(), email.toLowerCase()])
      answers.push({
        ...{ status, removed: [removed.status, removed.json.removed] },
        answer: { ...json, ...blank, email: 'an address' },
        listed: { ...listed, ...blank, email: 'an address', since: 'a time' },
      })
    }
    expect(answers[0]?.status).toBe(200)
    expect(answers[1]).toEqual(answers[0])
    const no = await stack.owner.post('/members', { email: 'no address', role: 'viewer' })
    expect(no.code).toBe('NOT_FOUND')
  })

  test('waits for a person whom the operator lets in later', async () => {
    const email = `${randomBytes(6).toString('hex')}@example.test`
    const invited = await stack.owner.post('/members', { email, role: 'viewer' })
    const password = randomBytes(12).toString('hex')
    await createUser(join(stack.service.home, 'identity-provider'), email, password)
    const own = stack.service.console(await stack.service.token({ email, password }))
    const { person_id, invitations } = (await own.get('/me')).json
    expect(person_id).toBe(invited.json.person_id)
    expect(invitations).toMatchObject([{ account_id: accountId, role: 'viewer' }])
    const accepted = await own.post('/invitations/accept', { account_id: accountId })
    expect(accepted.status, accepted.text).toBe(200)
  })

  test('is no way for a stranger to fill the line of the account', async () => {
    const eve = await newPerson()
    const answers = Array.from({ length: 200 }, () => accept(eve))
    const made = await stack.owner.post('/wallets', { name: 'in time' })
    expect(made.status, made.text).toBe(201)
    expect(new Set((await Promise.all(answers)).map(({ code }) => code))).toContain('NOT_FOUND')
  })

  test('can be declined, and taken back', async () => {
    const [cat, dan] = [await newPerson(), await newPerson()]
    await invite(cat, 'owner')
    const declined = await cat.own.post('/invitations/decline', { account_id: accountId })
    expect(declined.json, declined.text).toEqual({ account_id: accountId, role: null })
    expect((await accept(cat)).code).toBe('NOT_FOUND')
    await invite(dan, 'owner')
    expect((await remove(dan)).json).toEqual({ person_id: dan.personId, removed: true })
    expect((await accept(dan)).code).toBe('NOT_FOUND')
    const again = await dan.own.post('/invitations/decline', { account_id: accountId })
    expect(again.code).toBe('NOT_FOUND')
  })
})

describe('a member', () => {
  test('may what the role says, and sees what the owner sees', async () => {
    const operator = await inAccount(await newMember('operator'))
    const { keyId } = await issueKey(stack)
    const { keys } = (await operator.get('/keys?limit=100')).json
    expect(keys?.map(({ key_id }) => key_id)).toContain(keyId)
    expect((await operator.post(`/keys/${keyId}/revoke`)).status).toBe(200)
    const wallet = await operator.post('/wallets', { name: 'mine' })
    expect(wallet.code).toBe('PERMISSION_DENIED')
    expect((await invite(await newPerson(), 'viewer', operator)).code).toBe('PERMISSION_DENIED')
  })

  test('who is an owner makes wallets and keys of the account', async () => {
    const owner = await inAccount(await newMember('owner'))
    const wallet = await owner.post('/wallets', { name: 'shared' })
    expect(wallet.status, wallet.text).toBe(201)
    const key = await owner.post('/keys', {
      ...{ name: 'agent', sub_wallet_id: wallet.json.sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '10', monthly_limit_usd: '10', allowed_chains: [8453] },
    })
    expect(key.status, key.text).toBe(201)
  })

  test('is refused with a token of before within seconds of the removal', async () => {
    const cat = await newMember('owner')
    const there = await inAccount(cat)
    expect((await there.get('/me')).status).toBe(200)
    expect((await remove(cat)).status).toBe(200)
    await vi.waitFor(async () => expect((await there.get('/me')).code).toBe('INVALID_TOKEN'), WAIT)
    expect((await there.post('/freeze', { scope: 'user' })).code).toBe('INVALID_TOKEN')
    await expect(inAccount(cat)).rejects.toThrow('invalid_grant')
    expect((await cat.own.get('/me')).status).toBe(200)
  })

  test('is held to a changed role with the same token', async () => {
    const cat = await newMember('operator')
    const there = await inAccount(cat)
    const changed = await changeRole(cat, 'viewer')
    expect(changed.json).toMatchObject({ role_before: 'operator', authorized_by: null })
    const { keyId } = await issueKey(stack)
    expect((await there.post(`/keys/${keyId}/revoke`)).code).toBe('PERMISSION_DENIED')
    const raised = await changeRole(cat, 'owner')
    expect(raised.json).toMatchObject({ role_before: 'viewer', authorized_by: 'software' })
    expect((await there.post(`/keys/${keyId}/revoke`)).status).toBe(200)
  })

  test('leaves by themselves; the last owner does not', async () => {
    const there = await inAccount(await newMember('viewer'))
    expect((await there.post('/members/leave')).json).toMatchObject({ removed: true })
    expect((await there.get('/me')).code).toBe('INVALID_TOKEN')
    const last = await bob.own.post('/members/leave')
    expect(last.code).toBe('INVALID_REQUEST')
    expect(last.text).toContain('the last owner stays')
  })
})

describe('the command line', () => {
  test('invites, accepts, changes a role and removes', async () => {
    const [cat, { home }] = [await newPerson(), stack.service]
    const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      JSON.parse(await countersignOk(home, ['members', ...args, '--json'], env))
    expect(await run(['invite', cat.email, '--role', 'viewer'])).toMatchObject({
      ...{ person_id: cat.personId, role: 'viewer' },
    })
    const token = await stack.service.token(cat)
    const accepted = await run(['accept', accountId], { COUNTERSIGN_TOKEN: token })
    expect(accepted).toEqual({ account_id: accountId, role: 'viewer' })
    expect(await run(['role', cat.personId, '--role', 'operator'])).toMatchObject({
      role_before: 'viewer',
    })
    const { members } = await run(['list'])
    expect(members).toContainEqual(
      expect.objectContaining({ person_id: cat.personId, role: 'operator', status: 'member' }),
    )
    expect(await run(['remove', cat.personId])).toMatchObject({ removed: true })
  })
})

describe('what happened', () => {
  test('is in the trail, by whom and to whom', async () => {
    const cat = await newMember('approver')
    await changeRole(cat, 'viewer')
    await remove(cat)
    await vi.waitFor(async () => {
      const { records } = (await stack.owner.get('/audit?limit=100')).json as {
        records: ReplyBody[]
      }
      const ofCat = records.filter(
        ({ details }) => (details as ReplyBody | undefined)?.person_id === cat.personId,
      )
      expect(ofCat.map(({ type, details }) => [type, (details as ReplyBody).by])).toEqual([
        ['member.removed', accountId],
        ['member.role_changed', accountId],
        ['member.joined', cat.personId],
        ['member.invited', accountId],
      ])
    }, WAIT)
  })

  test('to keys, freezes, breakers and rules names the person, in a shared account and alone', async () => {
    const cat = await newMember('owner')
    for (const [by, console] of [
      [cat.personId, await inAccount(cat)],
      [accountId, stack.owner],
    ] as const) {
      const { keyId } = await issueKey({ ...stack, owner: console })
      const narrowed = { body: { daily_limit_usd: '1' } }
      expect((await console.call('PATCH', `/keys/${keyId}`, narrowed)).status).toBe(200)
      const scope = { scope: 'key', id: keyId }
      expect((await console.post('/freeze', scope)).status).toBe(200)
      await vi.waitFor(
        async () => expect((await console.post('/unfreeze', scope)).status).toBe(200),
        WAIT,
      )
      expect((await console.post(`/keys/${keyId}/rotate`)).status).toBe(200)
      expect((await console.post(`/keys/${keyId}/revoke`)).status).toBe(200)
      const breakers = await console.post('/breakers', { breakers: 'usual' })
      expect(breakers.status, breakers.text).toBe(200)
      const rule = { address: STRANGER, action: 'allow' }
      expect((await console.post('/address-rules', rule)).status).toBe(201)
      await vi.waitFor(async () => {
        const { records } = (await console.get('/audit?limit=100')).json as {
          records: (ReplyBody & { key_id: string | null; details: ReplyBody })[]
        }
        const ofKey = records.filter(({ key_id }) => key_id === keyId)
        const named = (type: string, of = ofKey) =>
          of.find((entry) => entry.type === type)?.details.by_person
        for (const type of ['created', 'changed', 'frozen', 'unfrozen', 'rotated_out', 'revoked']) {
          expect([type, named(`key.${type}`)]).toEqual([type, by])
        }
        expect(named('grant.put', ofKey.slice(-2))).toBe(by)
        expect(named('breakers.set', records)).toBe(by)
        expect(named('address_rule.set', records)).toBe(by)
      }, WAIT)
    }
  })

  test('to wallets and webhooks names the person', async () => {
    const cat = await newMember('owner')
    for (const [by, console] of [
      [cat.personId, await inAccount(cat)],
      [accountId, stack.owner],
    ] as const) {
      const wallet = await console.post('/wallets', { name: `made by ${by}` })
      expect(wallet.status, wallet.text).toBe(201)
      const webhook = await console.post('/webhooks', { url: 'http://127.0.0.1:9/hook' })
      expect(webhook.status, webhook.text).toBe(201)
      const { webhook_id: id } = webhook.json
      const path = `/webhooks/${String(id)}`
      for (const status of ['disabled', 'enabled']) {
        expect((await console.call('PATCH', path, { body: { status } })).status).toBe(200)
      }
      const words = { body: { description: 'words' } }
      expect((await console.call('PATCH', path, words)).status).toBe(200)
      expect((await console.post(`${path}/rotate-secret`)).status).toBe(200)
      expect((await console.call('DELETE', path)).status).toBe(200)
      const { records } = (await console.get('/audit?limit=100')).json as {
        records: { type: string; sub_wallet_id: string | null; details: ReplyBody }[]
      }
      const made = records.find(({ type, sub_wallet_id }) => {
        return type === 'wallet.created' && sub_wallet_id === wallet.json.sub_wallet_id
      })
      expect(made?.details.by_person).toBe(by)
      const ofWebhook = records.filter(({ details }) => details.webhook_id === id)
      expect(ofWebhook.map(({ type, details }) => [type, details.by_person])).toEqual(
        ['removed', 'secret_rotated', 'changed', 'enabled', 'disabled', 'created'].map((what) => [
          `webhook.${what}`,
          by,
        ]),
      )
    }
  })

  test('is proved in both logs', async () => {
    const key = await issueKey(stack)
    const sent = await key.api.post('/api/tx/send', { chain_id: 8453, to: STRANGER, value: '1' })
    expect(sent.status, sent.text).toBe(200)
    expect(await verifyAudit(stack.service.home, [])).toEqual([])
  })
})
