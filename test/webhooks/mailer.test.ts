import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readSmtpFile, type SmtpSettings } from '../../src/config/smtp.js'
import type { EventId } from '../../src/domain/ids.js'
import { createDeliverer, type DeliveryOutcome } from '../../src/webhooks/deliver.js'
import { createMailer } from '../../src/webhooks/mailer.js'
import { type MailReceiver, type MailReceiverOptions, startMailReceiver } from './mail-receiver.js'

const FROM = 'countersign@example.com'
const TO = 'owner@example.org'
const LOGIN = { user: 'countersign', password: 'hunter2' }
const EVENT = {
  eventId: 'evt_01J00000000000000000000000' as EventId,
  body: JSON.stringify({
    type: 'key.frozen',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { key_id: 'key_1', by: 'user', reason: 'lost\r\nBcc: everybody@example.net' },
  }),
}

let directory: string
let tls: { readonly key: string; readonly cert: string }
const dispatcher = new Agent()
const running: MailReceiver[] = []

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-mail-'))
  const [keyPath, certPath] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', keyPath, '-out', certPath],
    ],
    { stdio: 'ignore' },
  )
  tls = { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(certPath, 'utf8') }
})
afterEach(async () => {
  for (const receiver of running.splice(0)) await receiver.stop()
})
afterAll(async () => {
  await dispatcher.close()
  rmSync(directory, { recursive: true, force: true })
})

async function receiver(options: MailReceiverOptions = {}): Promise<MailReceiver> {
  const started = await startMailReceiver(options)
  running.push(started)
  return started
}

function settings(port: number, changes: Partial<SmtpSettings> = {}): SmtpSettings {
  return {
    ...{ host: 'localhost', port, tls: 'none', login: null, from: FROM, recipientDomains: null },
    ...changes,
  }
}

function deliver(of: SmtpSettings | null, ca?: string): Promise<DeliveryOutcome> {
  const mailer = of === null ? null : createMailer(of, ca)
  const secrets = [JSON.stringify({ kind: 'email', to: TO })]
  return createDeliverer({ dispatcher, mailer, timeoutMs: 10_000 }).deliver(
    { kind: 'email', url: `mailto:${TO}`, secrets },
    EVENT,
  )
}

describe('mail of an event', () => {
  test('comes to one address with what happened, and no header from its words', async () => {
    const server = await receiver()
    expect(await deliver(settings(server.port))).toMatchObject({ kind: 'delivered', status: 250 })
    const [mail] = server.received
    expect(mail).toMatchObject({ from: FROM, to: [TO] })
    const [headers = '', body = ''] = (mail?.text ?? '').split('\r\n\r\n')
    expect(headers).toContain('Subject: An API key is frozen')
    expect(headers).toContain(`Message-ID: <${EVENT.eventId}@example.com>`)
    expect(headers).not.toContain('Bcc')
    expect(body).toContain('key_1, by user')
  })

  test('goes with the login over TLS alone, and by a certificate that is vouched for', async () => {
    const server = await receiver({ tls, login: LOGIN })
    const secure = settings(server.port, { tls: 'starttls', login: LOGIN })
    expect(await deliver(secure, tls.cert)).toMatchObject({ kind: 'delivered' })
    expect(server.received).toMatchObject([{ user: LOGIN.user, secure: true }])
    expect(await deliver(secure)).toMatchObject({
      ...{ kind: 'retry', status: null, error: expect.stringContaining('TLS') },
    })
    const wrong = { ...secure, login: { ...LOGIN, password: 'hunter3' } }
    const refused = await deliver(wrong, tls.cert)
    expect(refused).toMatchObject({ kind: 'retry', error: 'the mail server refused the login' })
    const plain = await receiver()
    expect(await deliver({ ...secure, port: plain.port })).toMatchObject({ kind: 'retry' })
    expect(plain.received).toEqual([])
    expect(server.received).toHaveLength(1)
  })

  test('is tried again where the server refuses it, is away or says nothing', async () => {
    const refusing = await receiver({ refuses: 550 })
    expect(await deliver(settings(refusing.port))).toMatchObject({
      ...{ kind: 'retry', error: 'the mail server refused the address' },
    })
    await refusing.stop()
    running.length = 0
    expect(await deliver(settings(refusing.port))).toMatchObject({
      ...{ kind: 'retry', error: expect.stringMatching(/mail server/) },
    })
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const secrets = [JSON.stringify({ kind: 'email', to: TO })]
    const mailer = createMailer(settings(port))
    const outcome = createDeliverer({ dispatcher, mailer, timeoutMs: 200 }).deliver(
      { kind: 'email', url: `mailto:${TO}`, secrets },
      EVENT,
    )
    expect(await outcome).toMatchObject({ kind: 'retry', error: expect.stringMatching(/time|out/) })
    silent.close()
  })

  test('waits where the operator has named no server', async () => {
    expect(await deliver(null)).toMatchObject({
      ...{ kind: 'retry', error: 'this installation sends no mail' },
    })
  })
})

describe("an operator's mail server", () => {
  function read(text: string): SmtpSettings {
    const path = join(directory, 'smtp.json')
    writeFileSync(path, text, { mode: 0o600 })
    return readSmtpFile(path)
  }
  const relay = { host: 'mail.example.com', port: 587, tls: 'starttls', from: FROM }

  test('is read from its file', () => {
    const { user, password } = LOGIN
    const all = { ...relay, user, password, recipient_domains: ['Example.org'] }
    expect(read(JSON.stringify(all))).toEqual({
      ...{ ...relay, login: LOGIN, recipientDomains: ['example.org'] },
    })
    expect(read(JSON.stringify(relay))).toMatchObject({ login: null, recipientDomains: null })
  })

  test('is refused where others may read its password', () => {
    const text = JSON.stringify({ ...relay, ...LOGIN })
    read(text)
    const path = join(directory, 'smtp.json')
    chmodSync(path, 0o644)
    expect(() => readSmtpFile(path)).toThrow('must have mode 0600')
    chmodSync(path, 0o600)
    expect(readSmtpFile(path)).toMatchObject({ login: LOGIN })
  })

  test.each([
    ['no JSON', '{"password": "hunter2"'],
    ['a password without TLS', JSON.stringify({ ...relay, ...LOGIN, tls: 'none' })],
    ['a password without a user', JSON.stringify({ ...relay, password: LOGIN.password })],
    ['a field of no meaning', JSON.stringify({ ...relay, hunter2: 'hunter2' })],
    ['a sender that is none', JSON.stringify({ ...relay, ...LOGIN, from: 'hunter2' })],
  ])('is refused for %s, without a word of its password', (_why, text) => {
    let said = ''
    try {
      read(text)
    } catch (error) {
      said = String(error)
    }
    expect(said).toContain('smtp.json')
    if (!text.includes('hunter2":')) expect(said).not.toContain('hunter2')
  })
})
