import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/retention.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { encodeAudit } from '../../src/store/encodings/audit.js'
import { openEnvironment } from '../../src/store/environment.js'
import { entryAt } from '../actors/retention-world.js'
import { type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, Reply } from '../support/http-client.js'
import { startReceiver, status } from '../webhooks/receiver.js'

/** Fewer than the line of custody holds, so that nothing but the quota refuses. */
const RACING = 40
const EVENTS_PER_SECOND = 5
const LIMITS = { wallets: 5, keys: 7, webhooks: 9, rules: 11 } as const
type Quota = keyof typeof LIMITS

let stack: Stack
let owner: HttpClient

beforeAll(async () => {
  stack = await startStack({
    COUNTERSIGN_EVENTS_PER_SECOND: String(EVENTS_PER_SECOND),
    COUNTERSIGN_RETAIN_AUDIT_DAYS: '30',
    COUNTERSIGN_QUOTA_WALLETS: String(LIMITS.wallets),
    COUNTERSIGN_QUOTA_KEYS: String(LIMITS.keys),
    COUNTERSIGN_QUOTA_WEBHOOKS: String(LIMITS.webhooks),
    COUNTERSIGN_QUOTA_ADDRESS_RULES: String(LIMITS.rules),
  })
  // With nothing yet, unlike the development user.
  owner = await newUser()
})
afterAll(() => stack?.service.stop())

async function newUser(): Promise<HttpClient> {
  const email = `${randomBytes(6).toString('hex')}@example.test`
  const password = randomBytes(12).toString('hex')
  await createUser(join(stack.service.home, 'identity-provider'), email, password)
  return stack.service.console(await stack.service.token({ email, password }))
}

let walletId: string | undefined

const CREATE: Readonly<Record<Quota, (index: number) => Promise<Reply>>> = {
  wallets: (index) => owner.post('/wallets', { name: `wallet ${index}` }),
  keys: (index) =>
    owner.post('/keys', {
      name: `key ${index}`,
      sub_wallet_id: walletId,
      permission: 'read',
      daily_limit_usd: '1',
      monthly_limit_usd: '1',
    }),
  webhooks: (index) => owner.post('/webhooks', { url: `http://127.0.0.1:9/${index}` }),
  rules: () =>
    owner.post('/address-rules', {
      address: `0x${randomBytes(20).toString('hex')}`,
      action: 'block',
    }),
}
const LISTS: Readonly<Record<Quota, string>> = {
  wallets: '/wallets',
  keys: '/keys',
  webhooks: '/webhooks',
  rules: '/address-rules',
}

async function listed(quota: Quota): Promise<readonly Record<string, unknown>[]> {
  const { json } = await owner.get(`${LISTS[quota]}?limit=100`)
  return json[quota] as readonly Record<string, unknown>[]
}

const idOf = (entry: Record<string, unknown> | undefined, name: string) => String(entry?.[name])

describe('what a user may have', () => {
  test.each(['wallets', 'keys', 'webhooks', 'rules'] as const)(
    'of %s racing creations make exactly as many as the quota',
    async (quota) => {
      const limit = LIMITS[quota]
      const answers = await Promise.all(
        Array.from({ length: RACING }, (_, index) => CREATE[quota](index)),
      )
      const made = answers.filter(({ status }) => status === 201)
      expect(made).toHaveLength(limit)
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expect(answer).toMatchObject({ status: 422, code: 'QUOTA_EXCEEDED' })
        expect(answer.json.error?.details).toEqual({ quota, limit })
      }
      expect(await listed(quota)).toHaveLength(limit)
      walletId ??= made[0]?.json.sub_wallet_id
    },
  )

  test('is the same after a restart, and nobody else’s', async () => {
    await stack.service.killAndAwaitRestart('service')
    for (const quota of ['wallets', 'keys', 'webhooks', 'rules'] as const) {
      expect(await CREATE[quota](RACING), quota).toMatchObject({ code: 'QUOTA_EXCEEDED' })
      expect(await listed(quota), quota).toHaveLength(LIMITS[quota])
    }
    const other = await newUser()
    expect((await other.post('/wallets', { name: 'first' })).status).toBe(201)
  })

  test('a key that is revoked makes room for one, however often it is revoked', async () => {
    const [key] = await listed('keys')
    const path = `/keys/${idOf(key, 'key_id')}/revoke`
    const revoked = await Promise.all(Array.from({ length: 5 }, () => owner.post(path)))
    expect(revoked.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const answers = await Promise.all(Array.from({ length: 5 }, (_, index) => CREATE.keys(index)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('a rotation needs no room', async () => {
    const active = (await listed('keys')).find(({ status }) => status === 'active')
    const rotated = await owner.post(`/keys/${idOf(active, 'key_id')}/rotate`)
    expect(rotated.status).toBe(200)
    expect(await CREATE.keys(RACING)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })

  test('a webhook that is removed makes room for one', async () => {
    const [webhook] = await listed('webhooks')
    const path = `/webhooks/${idOf(webhook, 'webhook_id')}`
    const removed = await Promise.all(Array.from({ length: 5 }, () => owner.call('DELETE', path)))
    expect(removed.filter(({ status }) => status === 200)).toHaveLength(1)
    const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => CREATE.webhooks(i)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('a creation that fails takes no place', async () => {
    const [webhook] = await listed('webhooks')
    await owner.call('DELETE', `/webhooks/${idOf(webhook, 'webhook_id')}`)
    for (let i = 0; i < 3; i++) {
      expect(await owner.post('/webhooks', { url: 'ftp://example.com/' })).toMatchObject({
        code: 'INVALID_REQUEST',
      })
    }
    expect((await CREATE.webhooks(RACING)).status).toBe(201)
    expect(await CREATE.webhooks(RACING)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })
})

describe('what the service keeps', () => {
  test('is no more than its settings say, from its start on', async () => {
    const environment = openEnvironment(join(stack.service.home, 'service', 'store'))
    try {
      const kept = () => [...environment.spaces.audit.getKeys({})].map((key) => String(key))
      const old = entryAt(Date.now() - 31 * DAY_MS)
      await environment.spaces.audit.put([old.userId, old.auditId], encodeAudit(old))
      expect(kept()).toContain(String([old.userId, old.auditId]))
      const others = kept().length - 1
      await stack.service.killAndAwaitRestart('service')
      const isKept = () => {
        environment.root.resetReadTxn()
        return kept().includes(String([old.userId, old.auditId]))
      }
      await expect.poll(isKept, { timeout: 30_000 }).toBe(false)
      expect(kept().length).toBeGreaterThanOrEqual(others)
    } finally {
      await environment.root.close()
    }
  })
})

describe('a user with more events than the rate', () => {
  const EVENTS = 30
  /** All of them by the rate, of which half a second may start at once; and some for the clocks. */
  const DELIVERED_MS_MIN = (EVENTS / EVENTS_PER_SECOND) * 1_000 - 1_000
  test('gets all of them, later, and delays nobody else', async () => {
    const [busy, other] = [await newUser(), await newUser()]
    const [flooded, quiet] = [await startReceiver(status(200)), await startReceiver(status(200))]
    try {
      const many = await busy.post('/webhooks', { url: flooded.url })
      const one = await other.post('/webhooks', { url: quiet.url })
      let events = 0
      let delivered = 0
      // A busy machine may take as long to ask as the rate takes to deliver: then nothing waits.
      for (let floods = 1; delivered === events && floods <= 3; floods++) {
        const startedMs = performance.now()
        const asked = await Promise.all(
          Array.from({ length: EVENTS }, () => busy.post(`/webhooks/${many.json.webhook_id}/test`)),
        )
        expect(asked.map((answer) => answer.status)).toEqual(Array(EVENTS).fill(202))
        events += EVENTS
        await other.post(`/webhooks/${one.json.webhook_id}/test`)
        await expect.poll(() => quiet.received.length, { timeout: 60_000 }).toBe(floods)
        delivered = flooded.received.length
        if (delivered === events) {
          expect(performance.now() - startedMs).toBeGreaterThan(DELIVERED_MS_MIN)
        }
      }
      expect(delivered).toBeLessThan(events)
      // The log has them at once: only their delivery is slow.
      const log = (await busy.get('/events?limit=100')).json.events
      expect(log).toHaveLength(events)
      await expect.poll(() => flooded.received.length, { timeout: 60_000 }).toBe(events)
    } finally {
      await Promise.all([flooded.stop(), quiet.stop()])
    }
  })
})
