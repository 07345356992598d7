import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { finalOf, issueKey, type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'
import { type Receiver, startReceiver, status } from '../webhooks/receiver.js'

const BASE = 8453

/** Files below a home that hold a text, as it is or as the bytes that it is the base64 of. */
function filesWith(home: string, text: string): string[] {
  const bytes = Buffer.from(text, 'base64')
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(home, name)
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
    const content = readFileSync(path)
    return content.includes(text) || content.includes(bytes)
  })
}
const WAIT = { timeout: 30_000, interval: 50 }

let stack: Stack
let owner: HttpClient
let stranger: HttpClient
const receivers: Receiver[] = []

beforeAll(async () => {
  stack = await startStack()
  owner = stack.owner
  const user = { email: 'stranger@example.test', password: randomBytes(12).toString('hex') }
  await createUser(join(stack.service.home, 'identity-provider'), user.email, user.password)
  stranger = stack.service.console(await stack.service.token(user))
})

afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()))
  await stack?.service.stop()
})

async function receiver(code = 200): Promise<Receiver> {
  const started = await startReceiver(status(code))
  receivers.push(started)
  return started
}

async function register(url: string, events?: readonly string[]): Promise<ReplyBody> {
  const made = await owner.post('/webhooks', { url, ...(events === undefined ? {} : { events }) })
  expect(made.status).toBe(201)
  return made.json
}

function newAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`
}

/** Fields of the entries of a list. */
function entries(body: ReplyBody, name: string): readonly Record<string, unknown>[] {
  return body[name] as readonly Record<string, unknown>[]
}

async function deliveriesOf(webhookId: unknown) {
  const { json } = await owner.get(`/webhooks/${webhookId}/deliveries`)
  return entries(json, 'deliveries')
}

async function deliveryOf(webhookId: unknown, eventId: unknown) {
  return (await deliveriesOf(webhookId)).find((delivery) => delivery.event_id === eventId)
}

describe('a webhook endpoint', () => {
  test('gets a signed test event that is in the event log too', async () => {
    const hook = await receiver()
    const made = await register(hook.url)
    const tested = await owner.post(`/webhooks/${made.webhook_id}/test`)
    expect(tested.status).toBe(202)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), WAIT)
    const [got] = hook.received
    expect(got?.headers['webhook-id']).toBe(tested.json.event_id)
    const body = new Webhook(String(made.secret)).verify(got?.body ?? '', got?.headers ?? {})
    expect(body).toMatchObject({
      type: 'webhook.test',
      data: { webhook_id: made.webhook_id },
    })
    await vi.waitFor(async () => {
      const delivery = await deliveryOf(made.webhook_id, tested.json.event_id)
      expect(delivery).toMatchObject({
        type: 'webhook.test',
        status: 'delivered',
        attempt_count: 1,
        attempts: [{ status: 200, error: null }],
        next_try_at: null,
      })
    }, WAIT)
    const { seq } = (await deliveryOf(made.webhook_id, tested.json.event_id)) ?? {}
    const log = await owner.get(`/events?after=${Number(seq) - 1}&limit=1`)
    expect(entries(log.json, 'events')).toMatchObject([{ event_id: tested.json.event_id, seq }])
  })

  test('that is disabled gets nothing, and goes on from there when enabled', async () => {
    const hook = await receiver()
    const made = await register(hook.url, ['key.revoked'])
    const path = `/webhooks/${made.webhook_id}`
    const off = await owner.call('PATCH', path, { body: { status: 'disabled' } })
    expect(off.json).toMatchObject({ status: 'disabled', events: ['key.revoked'] })
    expect(await owner.post(`${path}/test`)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    const key = await issueKey(stack)
    await owner.post(`/keys/${key.keyId}/revoke`)
    expect(hook.received).toHaveLength(0)
    const on = await owner.call('PATCH', path, { body: { status: 'enabled', description: 'on' } })
    expect(on.json).toMatchObject({ status: 'enabled', description: 'on' })
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), WAIT)
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({
      type: 'key.revoked',
      data: { key_id: key.keyId },
    })
  })

  test('moves to a new address, and refuses one that is no URL', async () => {
    const [before, after] = [await receiver(), await receiver()]
    const made = await register(before.url)
    const path = `/webhooks/${made.webhook_id}`
    const wrong = await owner.call('PATCH', path, { body: { url: 'ftp://example.com/' } })
    expect(wrong).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    const moved = await owner.call('PATCH', path, { body: { url: after.url } })
    expect(moved.json.url).toBe(after.url)
    await owner.post(`${path}/test`)
    await vi.waitFor(() => expect(after.received).toHaveLength(1), WAIT)
    expect(before.received).toHaveLength(0)
  })

  test('signs with both secrets after a rotation', async () => {
    const hook = await receiver()
    const made = await register(hook.url)
    const rotated = await owner.post(`/webhooks/${made.webhook_id}/rotate-secret`)
    expect(rotated.json.secret).toMatch(/^whsec_/)
    expect(rotated.json.secret).not.toBe(made.secret)
    const overlapMs = Date.parse(String(rotated.json.previous_secrets_expire_at)) - Date.now()
    expect(overlapMs / 3_600_000).toBeCloseTo(24, 1)
    await owner.post(`/webhooks/${made.webhook_id}/test`)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), WAIT)
    const { body = '', headers = {} } = hook.received[0] ?? {}
    for (const secret of [made.secret, rotated.json.secret]) {
      expect(() => new Webhook(String(secret)).verify(body, headers)).not.toThrow()
    }
    const listed = await owner.get('/webhooks')
    expect(listed.text).not.toContain('whsec_')
    for (const secret of [made.secret, rotated.json.secret]) {
      expect(filesWith(stack.service.home, String(secret).slice('whsec_'.length))).toEqual([])
    }
  })

  test('shows its failed attempts and the next try, and gets the event again on demand', async () => {
    let code = 500
    const hook = await startReceiver((response) => response.writeHead(code).end())
    receivers.push(hook)
    const made = await register(hook.url)
    const told = new Set<unknown>()
    /** @returns whether it came before the next try that was planned */
    const comesOnDemand = async (): Promise<boolean> => {
      code = 500
      const { event_id: eventId } = (await owner.post(`/webhooks/${made.webhook_id}/test`)).json
      told.add(eventId)
      const failed = await vi.waitFor(async () => {
        const delivery = await deliveryOf(made.webhook_id, eventId)
        expect(delivery).toMatchObject({ status: 'pending', next_try_at: expect.any(String) })
        expect(delivery?.attempts).toContainEqual(
          expect.objectContaining({ status: 500, error: 'answered 500' }),
        )
        return delivery
      }, WAIT)
      const plannedMs = Date.parse(String(failed?.next_try_at))
      expect(plannedMs).toBeGreaterThan(Date.parse(String(failed?.updated_at)) + 1_000)
      code = 204
      const again = await owner.post(`/events/${eventId}/redeliver`)
      expect(again).toMatchObject({ status: 202, json: { webhook_ids: [made.webhook_id] } })
      const delivered = await vi.waitFor(async () => {
        const delivery = await deliveryOf(made.webhook_id, eventId)
        expect(delivery).toMatchObject({ status: 'delivered' })
        return delivery
      }, WAIT)
      const deliveredMs = Date.parse(String(delivered?.updated_at))
      return delivered?.attempt_count === 2 && deliveredMs < plannedMs
    }
    // The first retry is due after five seconds, which a busy machine may take for all of this.
    let isOnDemand = await comesOnDemand()
    for (let tries = 1; !isOnDemand && tries < 5; tries++) isOnDemand = await comesOnDemand()
    expect(isOnDemand).toBe(true)
    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id']))).toEqual(told)
  })

  test('that is removed takes its history along', async () => {
    const hook = await receiver()
    const made = await register(hook.url)
    await owner.post(`/webhooks/${made.webhook_id}/test`)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), WAIT)
    const path = `/webhooks/${made.webhook_id}`
    expect((await owner.call('DELETE', path)).json).toEqual({ deleted: true })
    expect(await owner.get(`${path}/deliveries`)).toMatchObject({ status: 404 })
    expect(await owner.post(`${path}/test`)).toMatchObject({ status: 404 })
  })
})

describe('the event log', () => {
  test('read page by page shows each event once, in order, and nothing of others', async () => {
    const made = await register((await receiver()).url)
    for (let i = 0; i < 5; i++) await owner.post(`/webhooks/${made.webhook_id}/test`)
    const whole = entries((await owner.get('/events?limit=100')).json, 'events')
    const paged: unknown[] = []
    let after = 0
    for (;;) {
      const { json } = await owner.get(`/events?after=${after}&limit=2`)
      paged.push(...entries(json, 'events'))
      after = Number(json.next_after)
      if (json.has_more !== true) break
    }
    expect(paged.slice(0, whole.length)).toEqual(whole)
    const seqs = whole.map(({ seq }) => Number(seq))
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect((await stranger.get('/events')).json).toEqual({
      events: [],
      next_after: 0,
      has_more: false,
      log_starts_after: 0,
    })
  })
})

describe('what the service knows of itself', () => {
  test('is told to every user in numbers that name nobody', async () => {
    const key = await issueKey(stack, { chains: [BASE] })
    const sent = await key.api.post('/api/tx/send', {
      chain_id: BASE,
      to: newAddress(),
      value: '1',
    })
    await finalOf(key.api, sent.json.tx_id)
    for (const caller of [owner, stranger]) {
      const { status, json } = await caller.get('/service')
      expect(status).toBe(200)
      const chains = entries(json, 'chains')
      expect(chains.map(({ chain_id }) => chain_id)).toContain(BASE)
      const told = entries(json, 'queues').map(({ queue }) => queue)
      expect(told).toEqual(expect.arrayContaining(['signing', 'callers', 'mailbox', 'walks']))
      const gas = entries(json, 'gas_wallets').filter(({ chain_id }) => chain_id === BASE)
      expect(gas).toHaveLength(4)
      expect(json).toMatchObject({ last_backup: null, disk: { free_bytes: expect.any(Number) } })
      for (const id of [key.keyId, String(sent.json.tx_id), String(sent.json.from)]) {
        expect(JSON.stringify(json)).not.toContain(id)
      }
    }
  })
})

describe('address rules', () => {
  test('a block entry counts from the next send on, until it is removed', async () => {
    const key = await issueKey(stack, { chains: [BASE] })
    const address = newAddress()
    const send = () => key.api.post('/api/tx/send', { chain_id: BASE, to: address, value: '1' })
    const first = await send()
    expect(first.status).toBe(200)
    for (let round = 0; round < 3; round++) {
      const set = await owner.post('/address-rules', { address, action: 'block', note: 'a scam' })
      expect(set.status).toBe(201)
      expect(await send()).toMatchObject({
        status: 403,
        code: 'ADDRESS_BLOCKED',
        json: { error: { details: { list: 'user-rules' } } },
      })
      const gone = await owner.call('DELETE', '/address-rules', { body: { address } })
      expect(gone.json).toEqual({ deleted: true })
      expect((await send()).status).toBe(200)
    }
    const missing = await owner.call('DELETE', '/address-rules', { body: { address } })
    expect(missing.status).toBe(404)
    await finalOf(key.api, first.json.tx_id)
  })

  test('and lists are told of an address, with what each means for a call that names it', async () => {
    const lists = await owner.get('/lists')
    expect(lists.json).toMatchObject({ ready: true, reason: null })
    const [sample] = entries(lists.json, 'lists').filter(({ list }) => list === 'dev-sample')
    expect(sample).toMatchObject({ kind: 'sanctions', checked_at: null, stale: false })
    const listed = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96'
    const check = async (address: string) =>
      (await owner.get(`/lists/check?address=${address}`)).json
    const onList = [{ list: 'dev-sample', kind: 'sanctions', version: sample?.version }]
    const found = { address: listed, lists: onList, rule: null, refused: true }
    expect(await check(listed.toLowerCase())).toEqual(found)
    await owner.post('/address-rules', { address: listed, action: 'allow', note: 'mine' })
    const ruled = { ...found, rule: { action: 'allow', note: 'mine' } }
    expect(await check(listed), 'no rule overrides a sanctions list').toMatchObject(ruled)
    await owner.call('DELETE', '/address-rules', { body: { address: listed } })
    const other = newAddress()
    expect(await check(other)).toMatchObject({ lists: [], rule: null, refused: false })
    await owner.post('/address-rules', { address: other, action: 'block' })
    expect(await check(other)).toMatchObject({ lists: [], refused: true })
    expect((await stranger.get(`/lists/check?address=${other}`)).json.refused).toBe(false)
    await owner.call('DELETE', '/address-rules', { body: { address: other } })
    expect((await owner.get('/lists/check?address=0x12')).code).toBe('INVALID_REQUEST')
  })

  test("are the user's own: one entry per address, listed newest first in pages", async () => {
    const addresses = [newAddress(), newAddress(), newAddress()]
    for (const address of addresses) {
      await owner.post('/address-rules', { address, action: 'block' })
    }
    await owner.post('/address-rules', { address: addresses[1], action: 'allow' })
    const page = await owner.get('/address-rules?limit=2')
    const [newest, second] = entries(page.json, 'rules')
    expect(String(newest?.address).toLowerCase()).toBe(addresses[1])
    expect(newest).toMatchObject({ action: 'allow', chain_id: null, note: null })
    expect(String(second?.address).toLowerCase()).toBe(addresses[2])
    const rest = await owner.get(`/address-rules?cursor=${page.json.next_cursor}`)
    expect(String(entries(rest.json, 'rules')[0]?.address).toLowerCase()).toBe(addresses[0])
    expect(rest.json.next_cursor).toBeNull()
    expect(entries((await stranger.get('/address-rules')).json, 'rules')).toEqual([])
  })
})

describe('the audit trail', () => {
  test('holds the verdict behind each send, each refusal, and each change', async () => {
    const key = await issueKey(stack, { chains: [BASE], dailyUsd: '50' })
    const to = newAddress()
    const body = { chain_id: BASE, to, value: '1' }
    const sent = await key.api.post('/api/tx/send', body, { 'x-request-id': 'audited-send' })
    expect(sent.status).toBe(200)
    const tooMuch = { ...body, value: (10n ** 18n).toString() }
    for (let i = 0; i < 5; i++) {
      expect((await key.api.post('/api/tx/send', tooMuch)).code).toBe('LIMIT_EXCEEDED')
    }
    await owner.post(`/keys/${key.keyId}/rotate`)
    const trail = async () =>
      entries((await owner.get(`/audit?key_id=${key.keyId}&limit=100`)).json, 'records')
    await vi.waitFor(async () => {
      expect((await trail()).map(({ type }) => type)).toContain('send.refused')
    }, WAIT)
    const records = await trail()
    expect(records.find(({ type }) => type === 'send.allowed')).toMatchObject({
      request_id: 'audited-send',
      tx_id: sent.json.tx_id,
      sub_wallet_id: stack.service.dev().sub_wallet_id,
      details: {
        chain_id: BASE,
        lists: expect.arrayContaining([
          { list: 'dev-sample', version: expect.any(String), checked_at: expect.any(String) },
        ]),
      },
    })
    const refusals = records.filter(({ type }) => type === 'send.refused')
    // The same refusal over and over is counted, not written each time.
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toMatchObject({
      message: expect.stringContaining(' of the daily $50.00 was used'),
      details: { code: 'LIMIT_EXCEEDED', value: tooMuch.value, selector: '0x' },
    })
    const { json: counted } = await owner.get(`/refusals?key_id=${key.keyId}`)
    expect(counted).toMatchObject({ total: 1, reasons: [{ code: 'LIMIT_EXCEEDED', count: 1 }] })
    const { json: seen } = await owner.get(`/transactions/${sent.json.tx_id}`)
    expect(seen).toMatchObject({ tx_id: sent.json.tx_id, request_id: 'audited-send' })
    expect(entries(seen, 'screened_against').map(({ list }) => list)).toContain('dev-sample')
    expect(entries(seen, 'timeline').slice(0, 2)).toMatchObject([
      { step: 'decided' },
      { step: 'signed', tx_hash: sent.json.tx_hash },
    ])
    const { json: spend } = await owner.get(`/spend?key_id=${key.keyId}`)
    expect(entries(spend, 'keys')[0]?.daily_used_usd).not.toBe('0.00')
    for (const search of [sent.json.tx_id, sent.json.tx_hash, to]) {
      const { json: found } = await owner.get(`/transactions?search=${search}`)
      expect(entries(found, 'transactions').map(({ tx_id }) => tx_id)).toEqual([sent.json.tx_id])
    }
    const types = records.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['key.created', 'grant.put', 'key.rotated_out']))
    expect(entries((await stranger.get('/audit')).json, 'records')).toEqual([])
  })

  test('names webhook and rule changes, filters by type, and pages newest first', async () => {
    await register((await receiver()).url)
    const address = newAddress()
    await owner.post('/address-rules', { address, action: 'block' })
    const rules = await owner.get('/audit?type=address_rule.set&limit=1')
    expect(entries(rules.json, 'records')[0]).toMatchObject({
      type: 'address_rule.set',
      details: { action: 'block' },
    })
    expect(rules.json.next_cursor).not.toBeNull()
    const hooks = await owner.get('/audit?type=webhook.created&limit=1')
    const [hook] = entries(hooks.json, 'records')
    expect(hook?.request_id).toEqual(expect.any(String))
    expect(JSON.stringify(hook)).not.toContain('/hook')
  })
})

describe('a backtest', () => {
  test('names the sends that lower caps would have refused', async () => {
    const key = await issueKey(stack, { chains: [BASE] })
    const ids: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const value = (10n ** 15n).toString()
      const sent = await key.api.post('/api/tx/send', { chain_id: BASE, to: newAddress(), value })
      ids.push(sent.json.tx_id)
    }
    const finals = await Promise.all(ids.map((id) => finalOf(key.api, String(id))))
    const first = Number(finals[0]?.spend_usd)
    const path = `/keys/${key.keyId}/backtest`
    const generous = await owner.post(path, {
      daily_limit_usd: 'unlimited',
      monthly_limit_usd: 'unlimited',
    })
    expect(generous.json).toEqual({ checked: 3, refused: [], next_cursor: null })
    const cap = (first * 1.5).toFixed(2)
    const strict = await owner.post(path, { daily_limit_usd: cap, monthly_limit_usd: 'unlimited' })
    expect(entries(strict.json, 'refused').map(({ tx_id }) => tx_id)).toEqual(ids.slice(1))
    expect(entries(strict.json, 'refused')[0]).toMatchObject({ period: 'daily' })
    const wrong = await owner.post(path, {
      daily_limit_usd: '1',
      monthly_limit_usd: '1',
      cursor: 'bm9uZQ',
    })
    expect(wrong).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
  })
})

describe('the last use of a key', () => {
  test('is shown to the minute at once, and survives the service', async () => {
    const key = await issueKey(stack)
    const lastUsed = async () => {
      const { json } = await owner.get('/keys?limit=100')
      return entries(json, 'keys').find(({ key_id }) => key_id === key.keyId)?.last_used_at
    }
    expect(await lastUsed()).toBeNull()
    await key.api.get('/api/limits')
    const seen = String(await lastUsed())
    expect(seen).toMatch(/:00\.000Z$/)
    const pid = stack.service.dev().pids.service
    stack.service.signal('service', 'SIGTERM')
    if (pid !== null) await stack.service.awaitRestart('service', pid)
    expect(await lastUsed()).toBe(seen)
  })
})

describe('the list of keys', () => {
  test('has one key alone, where it is asked for by its id', async () => {
    const [one] = [await issueKey(stack), await issueKey(stack)]
    const { json, text } = await owner.get(`/keys?key_id=${one.keyId}`)
    expect(entries(json, 'keys'), text).toMatchObject([{ key_id: one.keyId }])
    expect(json.next_cursor).toBeNull()
    expect((await stranger.get(`/keys?key_id=${one.keyId}`)).code).toBe('NOT_FOUND')
  })
})

describe("another user's things", () => {
  test('answer 404 on every route', async () => {
    const made = await register((await receiver()).url)
    const tested = await owner.post(`/webhooks/${made.webhook_id}/test`)
    const key = await issueKey(stack)
    const sent = await key.api.post('/api/tx/send', { chain_id: BASE, to: newAddress() })
    const hook = `/webhooks/${made.webhook_id}`
    const caps = { daily_limit_usd: '1', monthly_limit_usd: '1' }
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['PATCH', hook, { status: 'disabled' }],
      ['POST', `${hook}/test`, {}],
      ['POST', `${hook}/rotate-secret`, {}],
      ['GET', `${hook}/deliveries`],
      ['DELETE', hook],
      ['POST', `/events/${tested.json.event_id}/redeliver`, {}],
      ['POST', `/keys/${key.keyId}/backtest`, caps],
      ['POST', `/keys/${key.keyId}/rotate`, {}],
      ['POST', `/keys/${key.keyId}/revoke`, {}],
      ['PATCH', `/keys/${key.keyId}`, { name: 'mine' }],
      ['GET', `/spend?key_id=${key.keyId}`],
      ['GET', `/wallets/${stack.service.dev().sub_wallet_id}/gas`],
      ['GET', `/transactions/${sent.json.tx_id}`],
    ]
    for (const [method, path, body] of calls) {
      const answer = await stranger.call(method, path, body === undefined ? {} : { body })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    }
    const theirs = await stranger.post('/webhooks', { url: (await receiver()).url })
    const mixed = await stranger.post(`/events/${tested.json.event_id}/redeliver`, {
      webhook_id: theirs.json.webhook_id,
    })
    expect(mixed.status).toBe(404)
    const own = await stranger.post(`/webhooks/${theirs.json.webhook_id}/test`)
    const foreign = await stranger.post(`/events/${own.json.event_id}/redeliver`, {
      webhook_id: made.webhook_id,
    })
    expect(foreign.status).toBe(404)
    expect((await owner.get('/webhooks')).text).toContain(made.webhook_id)
  })
})
