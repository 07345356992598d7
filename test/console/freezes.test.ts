import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import {
  freezeInstance,
  instanceFreezePath,
  unfreezeInstance,
} from '../../src/custody/instance-freeze.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { countersignOk } from '../custody/command.js'
import { STRANGER } from '../custody/harness.js'
import { type ChainView, chainView } from '../e2e/chain.js'
import {
  allFinal,
  finalOf,
  type IssuedKey,
  issueKey,
  type Stack,
  startStack,
} from '../e2e/stack.js'
import { verifyAudit } from '../faults/verify-audit.js'
import type { HttpClient, Reply, ReplyBody } from '../support/http-client.js'

const BASE = 8453
const WAIT = { timeout: 60_000, interval: 100 }
/** Refusals come fast: without a pause the keys' rate limit would answer in their place. */
const REFUSED_PAUSE_MS = 100

let stack: Stack
let owner: HttpClient

beforeAll(async () => {
  stack = await startStack()
  owner = stack.owner
})
afterAll(() => stack?.service.stop())

function send(key: IssuedKey, value = '1'): Promise<Reply> {
  return key.api.post('/api/tx/send', { chain_id: BASE, to: STRANGER, value })
}

function freeze(scope: string, id?: string): Promise<Reply> {
  return owner.post('/freeze', { scope, ...(id === undefined ? {} : { id }), reason: 'lost' })
}

async function unfreeze(scope: string, id?: string): Promise<void> {
  const answer = await owner.post('/unfreeze', { scope, ...(id === undefined ? {} : { id }) })
  expect(answer.json).toEqual({ frozen: false, authorized_by: 'software' })
}

async function recordOf(keyId: string): Promise<ReplyBody | undefined> {
  const { json } = await owner.get('/keys?limit=100')
  return (json.keys as ReplyBody[] | undefined)?.find(({ key_id }) => key_id === keyId)
}

/** Calls that the identity provider gave its half of, by its own log, since a moment. */
async function approvedSince(sinceMs: number): Promise<number> {
  const log = openEvidenceReader(userSideLayout(stack.service.home).evidence)
  try {
    const { batches, problems } = readEvidence('user side', log.entries())
    expect(problems).toEqual([])
    return batches.filter(({ timeMs, value }) => timeMs > sinceMs && value.bitmap !== 0).length
  } finally {
    await log.close()
  }
}

/** Sends as fast as answers come until told to stop. */
function flood(keys: readonly IssuedKey[], connections: number) {
  const codes = new Map<string, number>()
  let on = true
  const senders = Array.from({ length: connections }, async (_, index) => {
    while (on) {
      const answer = await send(keys[index % keys.length] as IssuedKey)
      const code = answer.code ?? 'sent'
      codes.set(code, (codes.get(code) ?? 0) + 1)
      if (code === 'FROZEN') await delay(REFUSED_PAUSE_MS)
    }
  })
  return {
    codes,
    async stop() {
      on = false
      await Promise.all(senders)
    },
  }
}

describe('a freeze', () => {
  test('under load: nothing is signed one second after its answer', async () => {
    const keys = await Promise.all([issueKey(stack), issueKey(stack), issueKey(stack)])
    const load = flood(keys, 24)
    await vi.waitFor(() => expect(load.codes.get('sent') ?? 0).toBeGreaterThan(50), WAIT)
    const frozen = await freeze('user')
    const answeredMs = Date.now()
    expect(frozen.status).toBe(200)
    expect(frozen.json).toMatchObject({ frozen: true, custody: 'current' })
    const sent = load.codes.get('sent') ?? 0
    await vi.waitFor(() => expect(load.codes.get('FROZEN') ?? 0).toBeGreaterThan(200), WAIT)
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(answeredMs + 2_000), WAIT)
    await load.stop()
    expect(await approvedSince(answeredMs + 1_000)).toBe(0)
    // What was signed before goes its way, and nothing stays reserved.
    for (const key of keys) await allFinal(owner, key)
    expect((load.codes.get('sent') ?? 0) - sent).toBeLessThanOrEqual(24)
    expect([...load.codes.keys()].sort()).toEqual(['FROZEN', 'sent'])
    await unfreeze('user')
    for (const key of keys) expect((await send(key)).status).toBe(200)
  })

  test('is named in every answer to what it stops, and in no other', async () => {
    const key = await issueKey(stack)
    const since = (await freeze('key', key.keyId)).json.since
    const refused = await send(key)
    expect(refused).toMatchObject({ status: 403, code: 'FROZEN' })
    expect(refused.json.error?.details).toEqual({ scope: 'key', since, reason: 'lost' })
    const elsewhere = { chain_id: 999, to: STRANGER, value: '1' }
    expect(await key.api.post('/api/tx/send', elsewhere)).toMatchObject({ code: 'FROZEN' })
    const call = { chain_id: BASE, to: STRANGER, value: '1' }
    expect(await key.api.post('/api/tx/simulate', call)).toMatchObject({ code: 'FROZEN' })
    const swap = { chain_id: BASE, amount_in: '1000000' }
    expect(await key.api.post('/api/gas/swap', swap)).toMatchObject({ code: 'FROZEN' })
    const mcp = await key.api.post(
      '/mcp',
      {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'send_transaction', arguments: call },
      },
      { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    )
    expect(mcp.text).toContain('FROZEN')
    const wallet = stack.service.dev().sub_wallet_id
    const revoking = await owner.post(`/wallets/${wallet}/revoke-allowances`, undefined, {
      'x-api-key': key.secret,
    })
    expect(revoking).toMatchObject({ status: 403, code: 'FROZEN' })
    const limits = await key.api.get('/api/limits')
    expect(limits.json.frozen).toEqual({ scope: 'key', since, reason: 'lost', by: 'user' })
    expect(await recordOf(key.keyId)).toMatchObject({ frozen: { since, by: 'user' } })
    const other = await issueKey(stack)
    expect((await send(other)).status).toBe(200)
    expect((await other.api.get('/api/limits')).json.frozen).toBeNull()
    await unfreeze('key', key.keyId)
    expect((await send(key)).status).toBe(200)
    expect((await key.api.get('/api/limits')).json.frozen).toBeNull()
  })

  test('of a key holds for its successors', async () => {
    const key = await issueKey(stack)
    await freeze('key', key.keyId)
    const rotated = await owner.post(`/keys/${key.keyId}/rotate`)
    const successor = { keyId: '', secret: '', api: stack.service.api(String(rotated.json.secret)) }
    expect(await send(successor)).toMatchObject({ code: 'FROZEN' })
    await unfreeze('key', String(rotated.json.key_id))
    expect((await send(successor)).status).toBe(200)
    expect((await send(key)).status).toBe(200)
  })

  test('is there after a kill, and answered with its first time', async () => {
    const wallet = stack.service.dev().sub_wallet_id
    const key = await issueKey(stack)
    const first = await freeze('wallet', wallet)
    await stack.service.killAndAwaitRestart('service')
    expect(await send(key)).toMatchObject({ code: 'FROZEN' })
    const again = await freeze('wallet', wallet)
    expect(again.json.since).toBe(first.json.since)
    const { json } = await owner.get('/wallets')
    expect(json.wallets).toMatchObject([{ frozen: { since: first.json.since, reason: 'lost' } }])
    await unfreeze('wallet', wallet)
    expect((await send(key)).status).toBe(200)
  })

  test('holds here at once while the identity provider is away, and there once it is back', async () => {
    const key = await issueKey(stack)
    stack.service.signal('identity_provider', 'SIGSTOP')
    try {
      const frozen = await freeze('key', key.keyId)
      expect(frozen.json).toMatchObject({ frozen: true, custody: 'pending' })
      expect(await send(key)).toMatchObject({ code: 'FROZEN' })
    } finally {
      stack.service.signal('identity_provider', 'SIGCONT')
    }
    await vi.waitFor(async () => {
      expect((await freeze('key', key.keyId)).json).toMatchObject({ custody: 'current' })
    }, WAIT)
    await unfreeze('key', key.keyId)
  })

  test("of another user's things is not to be had", async () => {
    const email = `${randomBytes(6).toString('hex')}@example.test`
    const password = randomBytes(12).toString('hex')
    await createUser(join(stack.service.home, 'identity-provider'), email, password)
    const stranger = stack.service.console(await stack.service.token({ email, password }))
    const { sub_wallet_id, user } = stack.service.dev()
    const key = await issueKey(stack)
    for (const [scope, id] of [
      ['wallet', sub_wallet_id],
      ['key', key.keyId],
      ['user', user.email],
    ]) {
      for (const path of ['/freeze', '/unfreeze']) {
        expect(await stranger.post(path, { scope, id })).toMatchObject({ status: 404 })
      }
    }
    expect(await stranger.post('/freeze', { scope: 'key' })).toMatchObject({ status: 400 })
    expect((await send(key)).status).toBe(200)
  })

  test('and its end are in the event log and the audit trail', async () => {
    const key = await issueKey(stack)
    await freeze('key', key.keyId)
    await unfreeze('key', key.keyId)
    const { json } = await owner.get(`/audit?key_id=${key.keyId}&limit=100`)
    const types = (json.records as ReplyBody[]).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['key.frozen', 'key.unfrozen']))
    const told: ReplyBody[] = []
    for (let after = 0; ; ) {
      const page = await owner.get(`/events?limit=100&after=${after}`)
      const events = page.json.events as { seq: number; type: string; data: ReplyBody }[]
      const last = events.at(-1)
      if (last === undefined) break
      told.push(...events.filter(({ data }) => data.key_id === key.keyId))
      after = last.seq
    }
    expect(told.filter(({ type }) => String(type).startsWith('key.'))).toMatchObject([
      { type: 'key.frozen', data: { by: 'user', reason: 'lost' } },
      { type: 'key.unfrozen', data: { by: 'user' } },
    ])
  })
})

/** The supervisor mines one a second; one that it had asked for already comes before this returns. */
async function stopBlocks(chain: ChainView): Promise<void> {
  stack.service.restarts(false)
  await chain.call('evm_setAutomine', [false])
  let seen: unknown
  await vi.waitFor(
    async () => {
      const before = seen
      seen = await chain.call('eth_blockNumber', [])
      expect(seen).toBe(before)
    },
    { timeout: 60_000, interval: 300 },
  )
}

describe('what is signed and not mined', () => {
  test('is cancelled on request while all is frozen, and its spend is free once that is final', async () => {
    const key = await issueKey(stack)
    const base = chainView(stack.service.dev(), BASE)
    let sent: Reply
    await stopBlocks(base)
    try {
      sent = await send(key, '1000')
      expect(sent.json).toMatchObject({ status: 'broadcast', replaced_hashes: [] })
      await freeze('user')
      const path = `/transactions/${sent.json.tx_id}/cancel`
      expect(await owner.post(path)).toMatchObject({ status: 202, json: { status: 'broadcast' } })
      await vi.waitFor(async () => {
        const { json } = await key.api.get(`/api/tx/${sent.json.tx_id}`)
        expect(json.replaced_hashes).toEqual([sent.json.tx_hash])
        // Until a node has it, a block would take what it outbids.
        expect(await base.call('eth_getTransactionByHash', [json.tx_hash])).not.toBeNull()
      }, WAIT)
    } finally {
      await base.call('evm_setAutomine', [true])
      await base.call('evm_mine', [])
      stack.service.restarts(true)
    }
    const cancelled = await finalOf(key.api, sent.json.tx_id)
    expect(cancelled).toMatchObject({ status: 'dropped', nonce: sent.json.nonce })
    expect(await owner.post(`/transactions/${sent.json.tx_id}/cancel`)).toMatchObject({
      status: 400,
    })
    expect(await owner.post('/transactions/tx_0000000000000000000000000/cancel')).toMatchObject({
      status: 404,
    })
    await unfreeze('user')
    expect((await key.api.get('/api/limits')).json.reserved_usd).toBe('0.00')
  })
})

describe('a breaker', () => {
  test('freezes its key in both domains, says why, and is worked out again from the trail', async () => {
    const { sub_wallet_id } = stack.service.dev()
    const made = await owner.post('/keys', {
      ...{ name: 'watched', sub_wallet_id, permission: 'trade' },
      ...{ daily_limit_usd: '1', monthly_limit_usd: '1' },
      policy: { default: 'allow', breakers: [{ kind: 'refusals', count: 4, per_seconds: 300 }] },
    })
    const { key_id: keyId = '', secret = '' } = made.json
    const key = { keyId, secret, api: stack.service.api(secret) }
    for (let i = 0; i < 4; i++) {
      expect(await send(key, `${10n ** 18n}`)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    }
    await vi.waitFor(async () => expect(await send(key)).toMatchObject({ code: 'FROZEN' }), WAIT)
    const reason = 'breaker: 4 refusals in 300 s, where 4 are too many'
    const limits = await key.api.get('/api/limits')
    expect(limits.json.frozen).toMatchObject({ scope: 'key', by: 'breaker', reason })
    await vi.waitFor(async () => {
      const { text } = await owner.get(`/audit?key_id=${keyId}&type=send.refused&limit=100`)
      expect(text).toContain('"repeated":3')
    }, WAIT)
    const again = await countersignOk(stack.service.home, ['policy', 'breakers', keyId, '--json'])
    expect(JSON.parse(again)).toEqual({
      trips: [{ reason, trips_at: expect.any(String), frozen_at: expect.any(String) }],
    })
    expect(await freeze('key', keyId)).toMatchObject({ json: { custody: 'current' } })
    await unfreeze('key', keyId)
    expect((await send(key)).status).toBe(200)
  })
})

describe('a breaker of the user', () => {
  test('freezes all of it once three sub-wallets pay the same stranger, in both domains', async () => {
    const base = chainView(stack.service.dev(), BASE)
    const made = await Promise.all(['one', 'two'].map((name) => owner.post('/wallets', { name })))
    for (const { json } of made) {
      await base.call('anvil_setBalance', [json.addresses?.evm, `0x${(10n ** 18n).toString(16)}`])
    }
    const ids = [
      stack.service.dev().sub_wallet_id,
      ...made.map(({ json }) => String(json.sub_wallet_id)),
    ]
    const keys = await Promise.all(ids.map((subWalletId) => issueKey(stack, { subWalletId })))
    const breakers = [{ kind: 'shared_beneficiary', wallets: 3, per_seconds: 600 }]
    expect((await owner.get('/breakers')).json).toEqual({ breakers: [], preset: 'off' })
    const set = await owner.post('/breakers', { breakers })
    expect(set).toMatchObject({ status: 200, json: { breakers, preset: null } })
    const stranger = `0x${randomBytes(20).toString('hex')}`
    const pay = (key: IssuedKey | undefined) =>
      key?.api.post('/api/tx/send', { chain_id: BASE, to: stranger, value: '1' })
    expect((await pay(keys[0]))?.status).toBe(200)
    // What is counted outlives the process.
    await stack.service.killAndAwaitRestart('service')
    for (const key of [keys[0], keys[1]]) expect((await pay(key))?.status).toBe(200)
    expect((await keys[0]?.api.get('/api/limits'))?.json.frozen).toBeNull()
    expect((await pay(keys[2]))?.status).toBe(200)
    for (const key of keys) {
      await vi.waitFor(async () => expect(await send(key)).toMatchObject({ code: 'FROZEN' }), WAIT)
    }
    const reason = `breaker: 3 sub-wallets paid ${stranger} for the first time in 600 s, where 3 are too many`
    expect((await owner.get('/me')).json.frozen).toMatchObject({ by: 'breaker', reason })
    expect(await freeze('user')).toMatchObject({ json: { custody: 'current' } })
    const again = await countersignOk(stack.service.home, ['policy', 'breakers', '--json'])
    expect(JSON.parse(again)).toEqual({
      trips: [{ reason, trips_at: expect.any(String), frozen_at: expect.any(String) }],
    })
    await owner.post('/breakers', { breakers: 'off' })
    await unfreeze('user')
    for (const key of keys) await allFinal(owner, key)
  })
})

describe('the operator', () => {
  test('freezes the whole instance by its own file, and lifts it', async () => {
    const key = await issueKey(stack)
    const path = instanceFreezePath(stack.service.home, 'service')
    freezeInstance(path, 'incident', Date.now())
    await vi.waitFor(async () => expect(await send(key)).toMatchObject({ code: 'FROZEN' }), WAIT)
    // Each thread looks for itself.
    await vi.waitFor(async () => {
      const { json } = await key.api.get('/api/limits')
      expect(json.frozen).toMatchObject({ scope: 'instance', reason: 'incident', by: 'operator' })
    }, WAIT)
    unfreezeInstance(path)
    await vi.waitFor(async () => expect((await send(key)).status).toBe(200), WAIT)
  })
})

describe('the evidence of all this', () => {
  test('is whole', async () => {
    expect(await verifyAudit(stack.service.home, [])).toEqual([])
  })
})
