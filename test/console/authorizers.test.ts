import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  encodeGrantStatement,
  readGrantStatement,
} from '../../src/custody/authorizers/grant-statement.js'
import { rootPrivateKeyPath } from '../../src/custody/domain-keys/layout.js'
import { approveAuthorizer } from '../../src/custody-tools/provisioning/approve-authorizer.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { PENDING_PER_USER_MAX } from '../../src/operations/console/pending-grants.js'
import { connectAuthorizers, issuerOf, type Passkey } from '../custody/authorizer-client.js'
import { countersign } from '../custody/command.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'
import { createSignInBrowser } from '../support/sign-in-browser.js'
import {
  createSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../support/software-authenticator.js'
import { describeCustodyAttacks } from './custody-attacks.js'

const PERSON = { email: 'person@example.test', password: randomBytes(12).toString('hex') }
const CONFIG = mkdtempSync(join(tmpdir(), 'cs-config-'))

let stack: Stack
let person: HttpClient
let personToken: string
let passkey: Passkey
let walletId: string
let origin: string
let ownerToken: string
const browser = createSignInBrowser(PERSON)

beforeAll(async () => {
  stack = await startStack()
  const { home } = stack.service
  await createUser(join(home, 'identity-provider'), PERSON.email, PERSON.password)
  ownerToken = await stack.service.token()
  personToken = await stack.service.token(PERSON)
  person = stack.service.console(personToken)
  origin = `http://localhost:${new URL(issuerOf(home)).port}`
  walletId = String((await person.post('/wallets', { name: 'mine' })).json.sub_wallet_id)
})

afterAll(async () => {
  await stack?.service.stop()
  rmSync(CONFIG, { recursive: true, force: true })
})

function wish(change: object = {}) {
  return {
    name: 'agent',
    sub_wallet_id: walletId,
    permission: 'trade',
    daily_limit_usd: '10',
    monthly_limit_usd: '100',
    ...change,
  }
}

/** What was asked, and the proof of the person's passkey for it. */
function proofFor(refused: ReplyBody, by: Passkey = passkey) {
  const { details } = refused.error as { details: Record<string, unknown> }
  return {
    details,
    authorization: {
      authorization_id: details.authorization_id,
      ...by.prove(String(details.challenge)),
    },
  }
}

describe('without an authorizer of one’s own', () => {
  test('a development instance confirms by its software key in one step, and says so', async () => {
    const made = await person.post('/keys', wish())
    expect(made).toMatchObject({ status: 201, json: { authorized_by: 'software' } })
    const raised = await person.call('PATCH', `/keys/${made.json.key_id}`, {
      body: { daily_limit_usd: '20' },
    })
    expect(raised.json).toMatchObject({ daily_limit_usd: '20.00', authorized_by: 'software' })
  })
})

describe('the page of the identity provider', () => {
  function post(path: string, body: object, from = origin): Promise<Response> {
    const url = new URL(`/authorizers/api/${path}`, origin)
    return fetch(url, {
      method: 'POST',
      headers: { cookie: browser.cookies(url), origin: from, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  test('registers a passkey after a sign-in, under a strict policy', async () => {
    const { url, html, policy } = await browser.open(`${origin}/authorizers`)
    expect(url.pathname).toBe('/authorizers')
    expect(html).toContain('You have none yet')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    const elsewhere = await post('begin', { kind: 'passkey', label: 'x' }, 'https://evil.test')
    expect(elsewhere.status).toBe(403)
    const begun = (await (await post('begin', { kind: 'passkey', label: 'Phone' })).json()) as {
      ceremony_id: string
      challenge: string
      rp_id: string
    }
    const authenticator: SoftwareAuthenticator = createSoftwareAuthenticator({
      rpId: begun.rp_id,
      origin,
    })
    const finished = await post('finish', {
      ceremony_id: begun.ceremony_id,
      ...authenticator.register(begun.challenge),
    })
    const json = (await finished.json()) as { authorizers: { authorizer_id: string }[] }
    const authorizerId = json.authorizers[0]?.authorizer_id ?? ''
    passkey = {
      authorizerId,
      authenticator,
      prove: (challenge) => ({
        authorizer_id: authorizerId,
        ...authenticator.assert(challenge),
      }),
    }
    expect((await browser.open(`${origin}/authorizers`)).html).toContain('Phone (passkey')
    const listed = await person.get('/authorizers')
    expect(listed.json).toMatchObject({
      authorizers: [{ authorizer_id: authorizerId, kind: 'passkey', label: 'Phone' }],
      manage_url: `${origin}/authorizers`,
    })
  })

  test('shows what is confirmed, read from what is signed, and passes the proof on', async () => {
    const refused = await person.post('/keys', wish({ daily_limit_usd: '77' }))
    const { details } = proofFor(refused.json)
    const { html } = await browser.open(String(details.confirm_url))
    expect(html).toContain('up to 77.00 USD')
    expect(html).toContain('Base')
    expect(html).toContain(walletId)
    const authorization = { authorization_id: details.authorization_id }
    const early = await person.post('/keys', { ...wish({ daily_limit_usd: '77' }), authorization })
    expect(early).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
    const proof = passkey.prove(String(details.challenge))
    expect((await post('confirm', { grant: details.grant, proof })).status).toBe(200)
    const made = await person.post('/keys', { ...wish({ daily_limit_usd: '77' }), authorization })
    expect(made).toMatchObject({ status: 201, json: { authorized_by: 'passkey' } })
    await showsAnEnlargement(String(made.json.key_id))
  })

  test('shows nobody what another user’s key may do', async () => {
    const key = stack.service.dev().keys.read?.key_id ?? ''
    const refused = await person.post('/keys', wish({ daily_limit_usd: '78' }))
    const { grant } = proofFor(refused.json).details
    const { statement } = readGrantStatement(Buffer.from(String(grant), 'base64url'))
    const forged = encodeGrantStatement({ ...statement, keyId: ulidBytes(key) })
    const { html } = await browser.open(confirmUrl(forged))
    expect(html).toContain(key)
    expect(html).not.toMatch(/<del>|Stays as it is/)
  })
})

function confirmUrl(statement: Uint8Array): string {
  return `${origin}/authorizers/confirm?grant=${Buffer.from(statement).toString('base64url')}`
}

/** What it was and what it becomes, with the names of key and wallet; the rest apart. */
async function showsAnEnlargement(keyId: string): Promise<void> {
  const raised = await person.call('PATCH', `/keys/${keyId}`, { body: { daily_limit_usd: '88' } })
  const { html } = await browser.open(String(proofFor(raised.json).details.confirm_url))
  const [changes, kept] = html.split('Stays as it is')
  expect(changes).toContain('<bdi>agent</bdi>')
  expect(changes).toContain('<bdi>mine</bdi>')
  expect(changes?.match(/<del>/g)).toHaveLength(1)
  expect(changes).toMatch(/<del>up to 77.00 USD<\/del>.*<ins>up to 88.00 USD<\/ins>/)
  expect(kept).toContain('up to 100.00 USD')
  const lie = `${confirmUrl(Buffer.from(String(proofFor(raised.json).details.grant), 'base64url'))}&key=%3Cimg+src%3Dx%3E`
  expect((await browser.open(lie)).html).toContain('<bdi>&#60;img src=x&#62;</bdi>')
}

/** A call that the wider policy lets through. */
async function showsAnExample(keyId: string): Promise<void> {
  const narrowed = {
    default: 'allow',
    rules: [{ name: 'never', effect: 'deny', when: { chains: [10] } }],
  }
  const less = await person.call('PATCH', `/keys/${keyId}`, { body: { policy: narrowed } })
  expect(less.status).toBe(200)
  const more = await person.call('PATCH', `/keys/${keyId}`, { body: { policy: null } })
  const { html } = await browser.open(String(proofFor(more.json).details.confirm_url))
  expect(html).toMatch(
    /<ul class="examples"><li><b>refused by <code><bdi>never<\/bdi><\/code> before.*Optimism/s,
  )
}

describe('with a passkey', () => {
  test('a key is issued in two steps, and works', async () => {
    const refused = await person.post('/keys', wish())
    expect(refused).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
    expect(refused.text).not.toContain('sk_test_')
    const { authorization } = proofFor(refused.json)
    const made = await person.post('/keys', { ...wish(), authorization })
    expect(made).toMatchObject({ status: 201, json: { authorized_by: 'passkey' } })
    const limits = await stack.service.api(made.json.secret).get('/api/limits')
    expect(limits.json.daily_limit_usd).toBe('10.00')
    // Once: the same proof is no answer to a second request.
    const again = await person.post('/keys', { ...wish(), authorization })
    expect(again).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
    await showsAnExample(String(made.json.key_id))
  })

  test('the proof for one request does not pass with another body', async () => {
    const refused = await person.post('/keys', wish())
    const { authorization } = proofFor(refused.json)
    const larger = wish({ daily_limit_usd: 'unlimited' })
    const swapped = await person.post('/keys', { ...larger, authorization })
    expect(swapped).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
    const made = await person.post('/keys', { ...wish(), authorization })
    expect(made.status).toBe(201)
  })

  test('raising needs it; lowering, rotating and revoking do not', async () => {
    const first = await person.post('/keys', wish())
    const { authorization } = proofFor(first.json)
    const { key_id } = (await person.post('/keys', { ...wish(), authorization })).json
    const patch = (body: object) => person.call('PATCH', `/keys/${key_id}`, { body })
    for (const body of [
      { daily_limit_usd: '11' },
      { monthly_limit_usd: 'unlimited' },
      { unpriced_assets: 'allow' },
    ]) {
      const refused = await patch(body)
      expect(refused).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
      expect(proofFor(refused.json).details.enlarges).toEqual(Object.keys(body))
    }
    const lowered = await patch({ daily_limit_usd: '5', allowed_chains: [8453] })
    expect(lowered).toMatchObject({ status: 200, json: { daily_limit_usd: '5.00' } })
    expect(lowered.json).not.toHaveProperty('authorized_by')
    const wider = { allowed_chains: [1, 8453] }
    const asked = await patch(wider)
    const raised = await patch({ ...wider, authorization: proofFor(asked.json).authorization })
    expect(raised.json).toMatchObject({ allowed_chains: [1, 8453], authorized_by: 'passkey' })
    const rotated = await person.post(`/keys/${key_id}/rotate`)
    expect(rotated.status).toBe(200)
    const revoked = await person.post(`/keys/${rotated.json.key_id}/revoke`)
    expect(revoked.json.status).toBe('revoked')
  })

  test('a wrong proof is refused, and the right one still passes afterwards', async () => {
    const refused = await person.post('/keys', wish())
    const { details, authorization } = proofFor(refused.json)
    const lie = { origin: 'https://evil.test' }
    const forged = {
      ...authorization,
      ...passkey.authenticator.assert(String(details.challenge), lie),
    }
    const wrong = await person.post('/keys', { ...wish(), authorization: forged })
    expect(wrong).toMatchObject({ status: 403, code: 'AUTHORIZATION_REFUSED' })
    const { authorization: right } = proofFor(refused.json)
    expect((await person.post('/keys', { ...wish(), authorization: right })).status).toBe(201)
  })
})

describeCustodyAttacks(async () => {
  const refused = await person.post('/keys', wish())
  const { authorization } = proofFor(refused.json)
  const { key_id: keyId = '', secret = '' } = (
    await person.post('/keys', { ...wish(), authorization })
  ).json
  return { stack, token: personToken, key: { keyId, secret }, wish: wish() }
})

describe('the command line', () => {
  function cli(args: readonly string[], env: Record<string, string> = {}) {
    return new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(
        process.execPath,
        ['dist/src/cli/main.js', ...args],
        {
          env: {
            PATH: process.env.PATH,
            COUNTERSIGN_HOME: stack.service.home,
            COUNTERSIGN_TOKEN: ownerToken,
            XDG_CONFIG_HOME: CONFIG,
            ...env,
          },
        },
        (error, out, err) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
        },
      )
    })
  }

  const issue = (daily: string) => [
    ...['keys', 'create', 'script', '--wallet', stack.service.dev().sub_wallet_id],
    ...['--daily', daily, '--monthly', '100', '--chains', '8453', '--json'],
  ]

  test('makes a P-256 key that from then on confirms keys and their caps', async () => {
    const before = await cli(issue('1'))
    expect(JSON.parse(before.out)).toMatchObject({ authorized_by: 'software' })
    const made = await cli(['authorizer', 'create', '--label', 'ci', '--json'])
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('Keep the file')])
    const directory = join(CONFIG, 'countersign', 'authorizers')
    const [file = ''] = readdirSync(directory)
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600)
    const issued = await cli(issue('2'))
    expect(issued.err).toContain('confirmed by ci')
    const key = JSON.parse(issued.out)
    expect(key).toMatchObject({ authorized_by: 'p256', daily_limit_usd: '2.00' })
    const raised = await cli(['keys', 'change', key.key_id, '--daily', '3', '--json'])
    expect(JSON.parse(raised.out)).toMatchObject({ authorized_by: 'p256', daily_limit_usd: '3.00' })
    const rotated = await cli(['keys', 'rotate', key.key_id, '--json'])
    expect(rotated.code).toBe(0)
  })

  test('approves an agent’s call once it was read, up to the chain, and declines one with a reason', async () => {
    const trading = [...issue('2'), '--permission', 'trade']
    const { key_id: keyId, secret } = JSON.parse((await cli(trading)).out)
    const rules = [{ name: 'large', effect: 'require_approval', when: {} }]
    const policy = { rules, default: 'allow' }
    const patched = await stack.owner.call('PATCH', `/keys/${keyId}`, { body: { policy } })
    expect(patched.status, patched.text).toBe(200)
    const agent = stack.service.api(secret)
    const asks = async () => {
      const body = { chain_id: 8453, to: newAddress(), value: '1000001' }
      const { status, json, text } = await agent.post('/api/tx/send', body)
      expect(status, text).toBe(202)
      const { approval_id } = json.approval as { approval_id: string }
      const found = async () => {
        const { code, out } = await cli(['approvals', 'show', approval_id])
        expect(code === 0 && out).toContain('0.000000000001000001 ETH')
      }
      // The identity provider hears of it a moment after the agent.
      await vi.waitFor(found, { timeout: 30_000, interval: 200 })
      return { txId: json.tx_id, approvalId: approval_id }
    }
    const { txId, approvalId } = await asks()
    const pending = await cli(['approvals', 'list', '--status', 'pending'])
    expect(pending.out).toContain(approvalId)
    const unread = await cli(['approvals', 'approve', approvalId])
    expect([unread.code, unread.err]).toEqual([2, expect.stringContaining('--yes')])
    expect(unread.err).toContain('0.000000000001000001 ETH')
    const directory = join(CONFIG, 'countersign', 'authorizers')
    const [name = ''] = readdirSync(directory)
    const approve = ['approvals', 'approve', approvalId, '--yes']
    const approved = await cli([...approve, '--key', join(directory, name), '--json'])
    expect(JSON.parse(approved.out)).toMatchObject({ state: 'approved', chain: 'Base' })
    expect(await finalOf(agent, txId)).toMatchObject({ status: 'confirmed' })
    const other = await asks()
    const decline = ['approvals', 'decline', other.approvalId, '--comment', 'not now', '--json']
    expect(JSON.parse((await cli(decline)).out)).toMatchObject({ state: 'ended' })
    expect(await finalOf(agent, other.txId)).toMatchObject({
      ...{ status: 'declined', tx_hash: null, error: { message: 'not now' } },
    })
  })

  test('adds a second one under a passphrase, and removes the first', async () => {
    const passphrase = { COUNTERSIGN_AUTHORIZER_PASSPHRASE: 'correct horse' }
    const second = JSON.parse((await cli(['authorizer', 'create', '--json'])).out)
    const listed = JSON.parse((await cli(['authorizer', 'list', '--json'])).out)
    expect(listed.authorizers).toHaveLength(2)
    const first = listed.authorizers[0].authorizer_id
    expect(second.authorizer_id).not.toBe(first)
    const sealed = JSON.parse((await cli(['authorizer', 'create', '--json'], passphrase)).out)
    for (const gone of [first, second.authorizer_id]) {
      expect((await cli(['authorizer', 'remove', gone], passphrase)).code).toBe(0)
    }
    const locked = await cli(issue('4'))
    expect([locked.code, locked.err]).toEqual([
      2,
      expect.stringContaining('set COUNTERSIGN_AUTHORIZER_PASSPHRASE'),
    ])
    expect(JSON.parse((await cli(issue('4'), passphrase)).out)).toMatchObject({
      authorized_by: 'p256',
    })
    expect(sealed.file).toContain(sealed.authorizer_id)
  })

  test('without its key says how to get one', async () => {
    const elsewhere = { XDG_CONFIG_HOME: join(CONFIG, 'empty') }
    const refused = await cli(issue('5'), elsewhere)
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('countersign authorizer create'),
    ])
  })

  test('with every key lost recovers by a new one that the root approves', async () => {
    const { home } = stack.service
    const elsewhere = { XDG_CONFIG_HOME: join(CONFIG, 'new-machine') }
    const request = join(CONFIG, 'request.json')
    const approved = join(CONFIG, 'approved.json')
    const asked = JSON.parse(
      (await cli(['authorizer', 'recover', '--request', request, '--json'], elsewhere)).out,
    )
    const root = rootPrivateKeyPath(home)
    await approveAuthorizer({
      ...{ rootPath: root, requestPath: request, outPath: approved, userId: asked.user_id },
    })
    const done = await cli(['authorizer', 'recover', '--approved', approved, '--json'], elsewhere)
    expect(JSON.parse(done.out)).toMatchObject({ authorizer_id: asked.authorizer_id })
    expect(JSON.parse((await cli(issue('6'), elsewhere)).out)).toMatchObject({
      authorized_by: 'p256',
    })
    // A passkey that was begun in the browser is confirmed by the one key there is.
    const { user } = stack.service.dev()
    const client = await connectAuthorizers(home, user, { rpId: 'localhost', origin })
    const { json: begun } = await client.call('begin', { kind: 'passkey', label: 'Phone' })
    const device = createSoftwareAuthenticator({ rpId: 'localhost', origin })
    const { json: step } = await client.call('finish', {
      ceremony_id: begun.ceremony_id,
      ...device.register(String(begun.challenge)),
    })
    const ceremony = String(step.ceremony_id)
    expect(ceremony).toMatch(/^[0-9a-f]{32}$/)
    const confirmed = await cli(['authorizer', 'approve', ceremony, '--json'], elsewhere)
    expect(confirmed.code, confirmed.err).toBe(0)
    expect(JSON.parse(confirmed.out)).toMatchObject({ action: 'add', label: 'Phone' })
    const { status } = await client.call('waiting', { ceremony_id: ceremony })
    expect(status).toBe(409)
  })
})

describe('what waits for a confirmation', () => {
  test('is bounded for each user, who is told; nobody else is turned away', async () => {
    let refused = await person.post('/keys', wish())
    for (let i = 0; i < PENDING_PER_USER_MAX && refused.status === 409; i++) {
      refused = await person.post('/keys', wish({ name: `agent ${i}` }))
    }
    expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
    expect(refused.json.error?.message).toContain('already wait for your confirmation')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const owner = await stack.service
      .console(ownerToken)
      .post('/keys', { ...wish(), sub_wallet_id: stack.service.dev().sub_wallet_id })
    expect(owner.code).toBe('AUTHORIZATION_REQUIRED')
  })
})

describe('the evidence of all this', () => {
  test('is whole, and each enlargement has its proof', async () => {
    // Of two providers the log here may be that of the one which follows the other, some rows behind it.
    let output = ''
    const audited = async () => {
      const { stdout, stderr } = await countersign(stack.service.home, ['verify-audit'])
      output = stdout + stderr
      return output
    }
    await expect.poll(audited, { timeout: 30_000 }).toContain('✓ both logs are whole and agree')
    expect(output).not.toContain('✗')
  })
})
