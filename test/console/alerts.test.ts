import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventType } from '../../src/api/console-webhooks.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { alertText } from '../../src/webhooks/alert-text.js'
import { issueKey, type Stack, startStack } from '../e2e/stack.js'
import { type MailReceiver, startMailReceiver } from '../webhooks/mail-receiver.js'
import { type Receiver, startReceiver, status } from '../webhooks/receiver.js'

/** Channels for people, through a running service, to real receivers. */
const WAIT = { timeout: 60_000, interval: 100 }
const TOKEN = '12345:AAHsecret'

let stack: Stack
let receiver: Receiver
let mail: MailReceiver
let directory: string
let origin: string

beforeAll(async () => {
  mail = await startMailReceiver()
  directory = mkdtempSync(join(tmpdir(), 'cs-alerts-'))
  const smtp = { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'cs@example.com' }
  const path = join(directory, 'smtp.json')
  writeFileSync(path, JSON.stringify({ ...smtp, recipient_domains: ['example.org'] }), {
    mode: 0o600,
  })
  stack = await startStack({ COUNTERSIGN_SMTP_FILE: path })
  receiver = await startReceiver(status(200))
  origin = new URL(receiver.url).origin
})
afterAll(async () => {
  await receiver?.stop()
  await stack?.service.stop()
  await mail?.stop()
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
})

async function made(body: object): Promise<string> {
  const { json, text } = await stack.owner.post('/webhooks', body)
  if (json.webhook_id === undefined) throw new Error(text)
  expect(json.secret).toBeNull()
  return json.webhook_id
}

describe('a channel for people', () => {
  test('gets each event in the form that its service takes, with what names it there', async () => {
    await made({ kind: 'slack', url: `${origin}/services/T0/B0/secret` })
    await made({ kind: 'telegram', url: origin, token: TOKEN, chat_id: '-100' })
    await made({ kind: 'ntfy', url: `${origin}/alarms`, token: 'tk_1' })
    const key = await issueKey(stack)
    await stack.owner.post('/freeze', { scope: 'key', id: key.keyId, reason: 'a <b> & c' })
    await stack.owner.post('/unfreeze', { scope: 'key', id: key.keyId })
    await vi.waitFor(() => expect(receiver.received).toHaveLength(6), WAIT)
    const at = (path: string) => receiver.received.filter((request) => request.path === path)
    const [slack] = at('/services/T0/B0/secret')
    expect(JSON.parse(slack?.body ?? '')).toEqual({
      text: `*An API key is frozen*\n${key.keyId}, by user: a &lt;b&gt; &amp; c.`,
    })
    const [telegram] = at(`/bot${TOKEN}/sendMessage`)
    expect(JSON.parse(telegram?.body ?? '')).toMatchObject({
      chat_id: '-100',
      text: `An API key is frozen\n${key.keyId}, by user: a <b> & c.`,
    })
    const [ntfy] = at('/alarms')
    expect(ntfy?.headers).toMatchObject({ authorization: 'Bearer tk_1', tags: 'no_entry' })
    expect(ntfy?.body).toBe(`${key.keyId}, by user: a <b> & c.`)
  })

  test('of mail is told by the operator’s server, and may be tried', async () => {
    const id = await made({ kind: 'email', email: 'owner@example.org' })
    expect(await stack.owner.post(`/webhooks/${id}/test`)).toMatchObject({ status: 202 })
    await vi.waitFor(() => expect(mail.received).toHaveLength(1), WAIT)
    expect(mail.received).toMatchObject([{ from: 'cs@example.com', to: ['owner@example.org'] }])
    expect(mail.received[0]?.text).toContain('Subject: A test of this channel')
    await vi.waitFor(async () => {
      const { json } = await stack.owner.get(`/webhooks/${id}/deliveries`)
      expect(json.deliveries).toMatchObject([{ status: 'delivered' }])
    }, WAIT)
  })

  test('whoever is invited is told by mail, where the operator lets it go, and else the owner hears so', async () => {
    const [near, far] = [`${randomUUID()}@example.org`, `${randomUUID()}@example.net`]
    for (const email of [near, far]) {
      await createUser(join(stack.service.home, 'identity-provider'), email, randomUUID())
      const invited = await stack.owner.post('/members', { email, role: 'viewer' })
      expect(invited.json, invited.text).toMatchObject({ email, mailed: email === near })
    }
    expect(mail.received.some(({ to }) => to.includes(far))).toBe(false)
    const told = mail.received.filter(({ to }) => to.includes(near))
    expect(told).toMatchObject([{ from: 'cs@example.com', to: [near] }])
    expect(told[0]?.text).toContain('Subject: You are invited to an account, as viewer')
    expect(told[0]?.text).not.toMatch(/https?:/)
  })

  test('is never shown its secret again', async () => {
    const { text } = await stack.owner.get('/webhooks')
    for (const secret of ['secret', TOKEN, 'tk_1']) expect(text).not.toContain(secret)
    const audit = await stack.owner.get('/audit?limit=100')
    expect(audit.text).not.toContain(TOKEN)
  })

  test('that is dead delays no send', async () => {
    const dead = await startReceiver(() => {})
    await made({ kind: 'ntfy', url: dead.url, events: ['transaction.confirmed'] })
    const key = await issueKey(stack)
    const body = { chain_id: 8453, to: `0x${'3'.repeat(40)}`, value: '1' }
    for (let i = 0; i < 5; i++) expect((await key.api.post('/api/tx/send', body)).status).toBe(200)
    await vi.waitFor(() => expect(dead.received.length).toBeGreaterThan(0), WAIT)
    expect((await key.api.post('/api/tx/send', body)).status).toBe(200)
    await dead.stop()
  })

  test('keeps its address, and is asked for what its kind needs', async () => {
    const id = await made({ kind: 'ntfy', url: `${origin}/other` })
    const patched = await stack.owner.call('PATCH', `/webhooks/${id}`, { body: { url: origin } })
    expect(patched.status).toBe(400)
    expect((await stack.owner.post(`/webhooks/${id}/rotate-secret`)).status).toBe(400)
    for (const body of [
      { kind: 'telegram', token: TOKEN },
      { kind: 'telegram', chat_id: '1' },
      { kind: 'slack' },
      { kind: 'slack', url: origin, token: 'x' },
      { url: origin, chat_id: '1' },
      { url: origin, email: 'owner@example.org' },
      { kind: 'email' },
      { kind: 'email', email: 'owner@example.net' },
      { kind: 'email', email: 'owner@example.org', url: origin },
      {},
    ]) {
      expect(await stack.owner.post('/webhooks', body)).toMatchObject({ status: 400 })
    }
  })
})

describe('a text for people', () => {
  test.each(eventType.options)('is there for %s, whatever its data, and short', (type) => {
    const long = { name: 'n'.repeat(5_000), reason: 'r'.repeat(5_000), error: null }
    const { title, text } = alertText(type, long)
    expect(title.length).toBeGreaterThan(0)
    expect(title.length).toBeLessThanOrEqual(500)
    expect(text.length).toBeLessThanOrEqual(500)
  })
})

describe('the event stream', () => {
  test('gives what the log gives, as it comes, and resumes where it was', async () => {
    const { json: before } = await stack.owner.get('/events?limit=1')
    const first = Number(before.next_after)
    const headers = { authorization: `Bearer ${await stack.service.token()}` }
    const url = `${stack.service.dev().base_url}/api/v1/agent/events/stream`
    const stop = new AbortController()
    const response = await fetch(url, {
      headers: { ...headers, 'last-event-id': String(first) },
      signal: stop.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const piece of response.body ?? []) text += Buffer.from(piece).toString()
    })().catch(() => undefined)
    const webhookId = await made({ kind: 'ntfy', url: `${origin}/streamed` })
    const { json: tested } = await stack.owner.post(`/webhooks/${webhookId}/test`)
    await vi.waitFor(() => expect(text).toContain(String(tested.event_id)), WAIT)
    stop.abort()
    await reading
    const streamed = [...text.matchAll(/^data: (\{"seq".*\})$/gm)].map(([, json]) =>
      JSON.parse(json ?? ''),
    )
    const { json: page } = await stack.owner.get(`/events?after=${first}&limit=100`)
    expect(streamed.length).toBeGreaterThan(0)
    expect((page.events as readonly unknown[]).slice(0, streamed.length)).toEqual(streamed)
  })
})
