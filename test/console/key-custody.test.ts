import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { KeyId, SubWalletId } from '../../src/domain/ids.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { expectList } from '../../src/quorum-protocol/bytes.js'
import { deriveProofKey } from '../../src/service-custody/key-proof.js'
import type { ReadyWallet } from '../custody/harness.js'
import { STRANGER, transfer } from '../custody/harness.js'
import { becomeService, type HostileService, intentFor, judged } from '../custody/hostile.js'
import { type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import type { Reply, ReplyBody } from '../support/http-client.js'

/** What both domains make of a key's change, whoever of them is away when it is made. */
const BASE = 8453
const WAIT = { timeout: 60_000, interval: 100 }
/** Nobody sends from the development wallet here. */
const UNUSED_NONCE = 1_000

let stack: Stack
let nonce = UNUSED_NONCE

beforeAll(async () => {
  stack = await startStack()
})

afterAll(async () => {
  await stack?.service.stop()
})

async function recordOf(keyId: string): Promise<ReplyBody | undefined> {
  const { json } = await stack.owner.get('/keys?limit=100')
  return (json.keys as ReplyBody[] | undefined)?.find(({ key_id }) => key_id === keyId)
}

async function becomesCurrent(keyId: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await recordOf(keyId)).toMatchObject({ custody: 'current' })
  }, WAIT)
}

function send(key: IssuedKey, value = '1', chainId = BASE) {
  return key.api.post('/api/tx/send', { chain_id: chainId, to: STRANGER, value })
}

/** What the identity provider says to a service gone bad that has the key's secret. */
async function judgedThere(key: IssuedKey, chainId = BASE): Promise<string> {
  const service = await becomeService({ home: stack.service.home })
  try {
    const [grantId, grantVersion] = await grantOf(service, key)
    const wallet = {
      walletId: stack.service.dev().sub_wallet_id as SubWalletId,
      keyId: key.keyId as KeyId,
      proofKey: deriveProofKey(key.secret),
    } as ReadyWallet
    const change = { grantId, grantVersion, proofKey: wallet.proofKey }
    const payload = transfer(nonce++, { chainId })
    return await judged(service, (seq) => intentFor(wallet, payload, seq, change))
  } finally {
    await service.close()
  }
}

async function grantOf(service: HostileService, key: IssuedKey): Promise<[Uint8Array, number]> {
  const answer = await service.userSide.call('grant-get', [ulidBytes(key.keyId)])
  const [grantId, version] = expectList(answer, 2)
  return [grantId as Uint8Array, Number(version)]
}

function patch(keyId: string, body: object) {
  return stack.owner.call('PATCH', `/keys/${keyId}`, { body })
}

async function rotated(key: IssuedKey): Promise<IssuedKey> {
  const { json, text } = await stack.owner.post(`/keys/${key.keyId}/rotate`)
  const { key_id: keyId, secret } = json
  if (keyId === undefined || secret === undefined) throw new Error(text)
  return { keyId, secret, api: stack.service.api(secret) }
}

describe('while the identity provider does not answer', () => {
  test('a revocation holds here at once, and there within seconds of its return', async () => {
    const key = await issueKey(stack)
    expect(await recordOf(key.keyId)).toMatchObject({ status: 'active', custody: 'current' })
    expect(await judgedThere(key)).toBe('approved')
    stack.service.signal('identity_provider', 'SIGSTOP')
    try {
      const revoked = await stack.owner.post(`/keys/${key.keyId}/revoke`)
      expect(revoked.status).toBe(200)
      expect(revoked.json).toMatchObject({ status: 'revoked', custody: 'pending' })
      expect(await send(key)).toMatchObject({ status: 401, code: 'INVALID_KEY' })
      expect(await recordOf(key.keyId)).toMatchObject({ custody: 'pending' })
    } finally {
      stack.service.signal('identity_provider', 'SIGCONT')
    }
    await becomesCurrent(key.keyId)
    expect(await judgedThere(key)).toBe('NOT_GRANTED')
  })

  test('a narrowing holds here at once, and reaches the identity provider though both were killed meanwhile', async () => {
    const key = await issueKey(stack, { chains: [1, BASE] })
    expect(await judgedThere(key, 1)).toBe('approved')
    const { service } = stack
    const { pids } = service.dev()
    service.signal('identity_provider', 'SIGSTOP')
    const narrowed = await patch(key.keyId, { allowed_chains: [BASE] })
    expect(narrowed.json).toMatchObject({ allowed_chains: [BASE], custody: 'pending' })
    expect(await send(key, '1', 1)).toMatchObject({ code: 'CHAIN_NOT_ALLOWED' })
    // The identity provider dies with what it had not read yet.
    service.signal('identity_provider', 'SIGKILL')
    service.signal('service', 'SIGKILL')
    await service.awaitRestart('identity_provider', pids.identity_provider ?? 0)
    await service.awaitRestart('service', pids.service ?? 0)
    await becomesCurrent(key.keyId)
    expect(await judgedThere(key, 1)).toBe('NOT_GRANTED')
    expect(await judgedThere(key)).toBe('approved')
  })

  test('nothing is enlarged and nothing rotated', async () => {
    const key = await issueKey(stack, { dailyUsd: '10' })
    stack.service.signal('identity_provider', 'SIGSTOP')
    try {
      expect(await patch(key.keyId, { daily_limit_usd: '20' })).toMatchObject({ status: 503 })
      expect(await stack.owner.post(`/keys/${key.keyId}/rotate`)).toMatchObject({ status: 503 })
    } finally {
      stack.service.signal('identity_provider', 'SIGCONT')
    }
    await becomesCurrent(key.keyId)
    expect(await recordOf(key.keyId)).toMatchObject({ daily_limit_usd: '10.00', status: 'active' })
  })
})

describe('a key that was rotated out', () => {
  test('has nothing that its successor has lost, here or there, and ends with it', async () => {
    const first = await issueKey(stack, { chains: [1, BASE], dailyUsd: '100' })
    const second = await rotated(first)
    const third = await rotated(second)
    await patch(third.keyId, { allowed_chains: [BASE], daily_limit_usd: '0' })
    for (const key of [first, second, third]) {
      await becomesCurrent(key.keyId)
      const { json } = await key.api.get('/api/limits')
      expect(json).toMatchObject({ daily_limit_usd: '0.00' })
      expect(await send(key)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
      expect(await send(key, '1', 1)).toMatchObject({ code: 'CHAIN_NOT_ALLOWED' })
      expect(await judgedThere(key, 1)).toBe('NOT_GRANTED')
    }
    expect(await patch(first.keyId, { daily_limit_usd: '1' })).toMatchObject({ status: 400 })
    await stack.owner.post(`/keys/${third.keyId}/revoke`)
    for (const key of [first, second, third]) {
      expect(await send(key)).toMatchObject({ status: 401, code: 'INVALID_KEY' })
      await becomesCurrent(key.keyId)
      expect(await judgedThere(key)).toBe('NOT_GRANTED')
    }
  })

  test('gains nothing when its successor is given more', async () => {
    const old = await issueKey(stack, { chains: [BASE], dailyUsd: '100' })
    const next = await rotated(old)
    await becomesCurrent(old.keyId)
    const raised = await patch(next.keyId, { allowed_chains: [1, BASE], daily_limit_usd: '200' })
    expect(raised.json).toMatchObject({ authorized_by: 'software', custody: 'current' })
    expect(await recordOf(old.keyId)).toMatchObject({ daily_limit_usd: '100.00' })
    expect(await judgedThere(next, 1)).toBe('approved')
    expect(await judgedThere(old, 1)).toBe('NOT_GRANTED')
    expect(await judgedThere(old)).toBe('approved')
  })
})

describe('a key that a key makes', () => {
  const wishes = (change: object = {}) => ({
    ...{ name: 'helper', permission: 'trade', allowed_chains: [BASE] },
    ...{ daily_limit_usd: '50', monthly_limit_usd: '50' },
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    ...change,
  })
  const make = (maker: IssuedKey, change: object = {}) =>
    maker.api.post('/api/keys/child', wishes(change))
  async function made(maker: IssuedKey, change: object = {}): Promise<IssuedKey> {
    const { json, status, text } = await make(maker, change)
    expect(status, text).toBe(201)
    const { key_id: keyId = '', secret = '' } = json
    return { keyId, secret, api: stack.service.api(secret) }
  }

  test('signs within its maker’s caps, shows whose it is, and ends with it within a second', async () => {
    const maker = await issueKey(stack, { chains: [1, BASE], dailyUsd: '100' })
    expect(await make(maker)).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' })
    const allowed = await patch(maker.keyId, { may_delegate: true })
    expect(allowed.json).toMatchObject({ may_delegate: true, authorized_by: 'software' })
    for (const wider of [{ daily_limit_usd: '101' }, { allowed_chains: [BASE, 10] }]) {
      expect(await make(maker, wider)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    }
    const child = await made(maker, { may_delegate: true })
    const sooner = new Date(Date.now() + 600_000).toISOString()
    const grandchild = await made(child, { expires_at: sooner })
    expect(await recordOf(grandchild.keyId)).toMatchObject({ parent_key_id: child.keyId })
    expect((await send(grandchild)).status).toBe(200)
    // What its maker is given later holds for it too, and it can see that.
    const ceiling = { chain_id: 1, token: 'native', per: 'day', amount: '7' }
    await patch(maker.keyId, { policy: { default: 'allow', ceilings: [ceiling] } })
    const { json } = await grandchild.api.get('/api/limits')
    expect(json.policy).toBeNull()
    expect(json.parents).toMatchObject([
      { daily_limit_usd: '50.00', policy: null },
      { daily_limit_usd: '100.00', policy: { default: 'allow', ceilings: [ceiling] } },
    ])
    const makerLimits = await maker.api.get('/api/limits')
    expect(Number(makerLimits.json.daily_used_usd)).toBeGreaterThan(0)
    expect(await judgedThere(grandchild)).toBe('approved')
    // A rotation of the maker ends nothing below it, and what it loses they lose.
    const next = await rotated(maker)
    await patch(next.keyId, { daily_limit_usd: '0' })
    expect(await send(grandchild)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await stack.owner.post(`/keys/${next.keyId}/revoke`)
    const tookMs: number[] = []
    const timed = async (answer: Promise<Reply>) => {
      const askedMs = performance.now()
      const reply = await answer
      tookMs.push(performance.now() - askedMs)
      return reply
    }
    for (const below of [child, grandchild]) {
      expect(await timed(send(below))).toMatchObject({ status: 401, code: 'INVALID_KEY' })
      expect(await timed(below.api.get('/api/limits'))).toMatchObject({ status: 401 })
    }
    // The very first answers are refusals; a busy machine may be slow to give one, not each.
    expect(Math.min(...tookMs)).toBeLessThan(1_000)
    expect(await judgedThere(grandchild)).toBe('NOT_GRANTED')
    for (const below of [child, grandchild]) await becomesCurrent(below.keyId)
  })
})

test('fifty changes of one key that race leave what the last of them made of it', async () => {
  const key = await issueKey(stack, { dailyUsd: '1000' })
  const caps = Array.from({ length: 48 }, (_, n) => `${100 + ((n * 37) % 50)}.00`)
  const answers = await Promise.all([
    ...caps.map((daily_limit_usd) => patch(key.keyId, { daily_limit_usd })),
    stack.owner.post(`/keys/${key.keyId}/rotate`),
    stack.owner.post(`/keys/${key.keyId}/rotate`),
  ])
  // Refused are a second rotation, and what would give an old key more than its successor has.
  for (const { status, code } of answers) {
    expect([200, 400, 503]).toContain(status)
    if (status !== 200) expect(['INVALID_REQUEST', 'OVERLOADED']).toContain(code)
  }
  const successors = answers.slice(48).filter(({ status }) => status === 200)
  expect(successors).toHaveLength(1)
  const nextId = String(successors[0]?.json.key_id)
  for (const keyId of [key.keyId, nextId]) await becomesCurrent(keyId)
  const [old, next] = [await recordOf(key.keyId), await recordOf(nextId)]
  const capOf = (record: ReplyBody | undefined) => Number(record?.daily_limit_usd)
  expect(capOf(old)).toBeLessThanOrEqual(capOf(next))
  const given = answers.filter(({ status }) => status === 200)
  expect(given.map(({ json }) => json.daily_limit_usd)).toContain(old?.daily_limit_usd)
  // The audit trail has one entry for each change that was answered, and the last one is what is.
  const { json } = await stack.owner.get(`/audit?key_id=${key.keyId}&type=key.changed&limit=100`)
  const entries = (json.records ?? []) as { details: { daily_limit_usd: string } }[]
  const changes = answers.slice(0, 48).filter(({ status }) => status === 200)
  expect(entries).toHaveLength(changes.length)
  expect(entries[0]?.details.daily_limit_usd).toBe(old?.daily_limit_usd)
})
