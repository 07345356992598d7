import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { creationKey } from '../../src/console/parts/creation-key.js'
import { timeOfId } from '../../src/domain/ids.js'
import { type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, Reply, ReplyBody } from '../support/http-client.js'

const WALLETS_MAX = 6
const DAY_MS = 86_400_000

let stack: Stack
let owner: HttpClient

beforeAll(async () => {
  stack = await startStack({ COUNTERSIGN_QUOTA_WALLETS: String(WALLETS_MAX) })
  owner = stack.owner
})
afterAll(() => stack?.service.stop())

const keyAt = (ms: number) => creationKey(ms, randomBytes(10))
const named = (key: string) => ({ 'Idempotency-Key': key })

type Kind = 'wallets' | 'keys' | 'webhooks'
const ID: Readonly<Record<Kind, (made: ReplyBody) => string>> = {
  wallets: ({ sub_wallet_id }) => String(sub_wallet_id),
  keys: ({ key_id }) => String(key_id),
  webhooks: ({ webhook_id }) => String(webhook_id),
}
const BODY: Readonly<Record<Kind, (name: string) => object>> = {
  wallets: (name) => ({ name }),
  keys: (name) => ({
    name,
    sub_wallet_id: stack.service.dev().sub_wallet_id,
    permission: 'trade',
    daily_limit_usd: '1',
    monthly_limit_usd: '1',
  }),
  webhooks: (description) => ({ url: 'http://127.0.0.1:9/hook', description }),
}

function make(kind: Kind, name: string, key: string): Promise<Reply> {
  return owner.post(`/${kind}`, BODY[kind](name), named(key))
}

async function listed(kind: Kind): Promise<readonly string[]> {
  const { json } = await owner.get(`/${kind}?limit=100`)
  return (json[kind] as readonly ReplyBody[]).map(ID[kind])
}

describe.each(['wallets', 'keys', 'webhooks'] as const)('a creation of %s', (kind) => {
  const atMs = Date.now() - 3_600_000
  const key = keyAt(atMs)
  let first: Reply

  test('whose answer was lost is made once, also across a crash', async () => {
    const before = await listed(kind)
    first = await make(kind, 'once', key)
    expect(first).toMatchObject({ status: 201 })
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const id = ID[kind](first.json)
    expect(timeOfId(id), 'ordered by the time of its key').toBe(atMs)
    await stack.service.killAndAwaitRestart('service')
    const again = await make(kind, 'once', key)
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(ID[kind](again.json)).toBe(id)
    expect(await listed(kind)).toHaveLength(before.length + 1)
  })

  test('shows its secret in the first answer alone', async () => {
    const again = await make(kind, 'once', key)
    if (kind === 'wallets') expect(again.json).toEqual(first.json)
    else {
      expect(first.json.secret).toMatch(kind === 'keys' ? /^sk_test_/ : /^whsec_/)
      expect(again.json.secret).toBeNull()
    }
  })

  test('under a key of another request is refused, and nothing is made', async () => {
    const before = await listed(kind)
    expect(await make(kind, 'another', key)).toMatchObject({
      ...{ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' },
    })
    expect(await listed(kind)).toEqual(before)
  })

  test('that races itself is made once, and whoever comes too early is told so', async () => {
    const before = await listed(kind)
    const racing = keyAt(Date.now())
    const answers = await Promise.all(Array.from({ length: 8 }, () => make(kind, 'raced', racing)))
    const made = answers.filter(({ status }) => status === 201)
    expect(new Set(made.map(({ json }) => ID[kind](json))).size).toBe(1)
    const fresh = made.filter(({ headers }) => headers.get('idempotency-replayed') === null)
    expect(fresh).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' })
    }
    expect(await listed(kind)).toHaveLength(before.length + 1)
  })

  test.each([
    ['no UUID', 'wallet-1', 'version 7'],
    ['a UUID without a time', 'c9a646d3-9c61-4cb7-bfcd-ee2522c8f633', 'version 7'],
    ['of the day before yesterday', keyAt(Date.now() - 2 * DAY_MS), 'within a day'],
    ['of the day after tomorrow', keyAt(Date.now() + 2 * DAY_MS), 'within a day'],
  ])('under a key that is %s is refused, and nothing is made', async (_what, wrong, why) => {
    const before = await listed(kind)
    const refused = await make(kind, 'wrong', wrong)
    expect(refused).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    expect(JSON.stringify(refused.json.error?.details)).toContain(why)
    expect(await listed(kind)).toEqual(before)
  })
})

test('a key in other letters is the same one', async () => {
  const key = keyAt(Date.now())
  const first = await make('webhooks', 'letters', key)
  const again = await make('webhooks', 'letters', key.toUpperCase())
  expect(ID.webhooks(again.json)).toBe(ID.webhooks(first.json))
})

test('what was made is found where the quota has no more room, and takes none', async () => {
  const key = keyAt(Date.now())
  const last = await make('wallets', 'last', key)
  while ((await owner.post('/wallets', { name: 'filler' })).status === 201);
  expect(await listed('wallets')).toHaveLength(WALLETS_MAX)
  expect(await make('wallets', 'more', keyAt(Date.now()))).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  const again = await make('wallets', 'last', key)
  expect(again.status).toBe(201)
  expect(again.json).toEqual(last.json)
})

test('a creation that was refused may be tried again under its key', async () => {
  const key = keyAt(Date.now())
  const body = { url: 'ftp://example.com/' }
  expect(await owner.post('/webhooks', body, named(key))).toMatchObject({ code: 'INVALID_REQUEST' })
  expect((await make('webhooks', 'good', key)).status).toBe(201)
})

test('a key of one operation names nothing of another', async () => {
  const key = keyAt(Date.now())
  expect((await make('webhooks', 'shared', key)).status).toBe(201)
  expect((await make('keys', 'shared', key)).status).toBe(201)
})
