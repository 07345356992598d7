import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PartReport } from '../../src/http/health-routes.js'
import { type SmallDisk, smallDisk } from '../support/small-disk.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const BASE = 8453
const DEAD = '0x000000000000000000000000000000000000dEaD'
const HAPPENS = { timeout: 90_000, interval: 100 }
const SENDS = 40
const PARTS = ['service', 'identity_provider'] as const

interface EventPage {
  readonly events: readonly { readonly type: string; readonly data: { readonly tx_id?: string } }[]
  readonly next_after: number
  readonly has_more: boolean
}

let disk: SmallDisk
let stack: Stack
let key: IssuedKey
let value = 1_000

function send() {
  const call = { chain_id: BASE, to: DEAD, value: String(value++), data: '0x' }
  return key.api.post('/api/tx/send', call)
}

async function diskPart(): Promise<PartReport | undefined> {
  const { json } = await stack.owner.get('/service')
  return (json.readiness as { parts: Readonly<Record<string, PartReport>> }).parts.disk
}

const isDown = () => expect.poll(async () => (await diskPart())?.status, HAPPENS).toBe('down')

async function isUp(): Promise<void> {
  const status = async () => (await diskPart().catch(() => undefined))?.status
  await expect.poll(status, HAPPENS).toBe('up')
  await expect.poll(async () => (await send()).status, HAPPENS).toBe(200)
}

beforeAll(async () => {
  disk = smallDisk()
  const floor = { COUNTERSIGN_DISK_FREE_MIN_MIB: String(disk.floorMib) }
  stack = await startStack(floor, disk.directory)
  key = await issueKey(stack)
})

afterAll(async () => {
  await stack?.service.stop()
  disk?.remove()
})

test('with little space left writes stop, reads go on, and it heals by itself', async () => {
  const other = await issueKey(stack)
  expect((await send()).status).toBe(200)
  disk.fillTo(disk.floorMib / 2)
  await isDown()
  const refused = await send()
  expect(refused.status).toBe(503)
  expect(refused.json.error).toMatchObject({ code: 'WRITES_STOPPED', details: { reason: 'disk' } })
  expect((await key.api.get('/api/limits')).status).toBe(200)
  const { sub_wallet_id } = stack.service.dev()
  const made = await stack.owner.post('/keys', {
    ...{ name: 'more', sub_wallet_id, permission: 'read' },
    ...{ daily_limit_usd: '1', monthly_limit_usd: '1' },
  })
  expect(made.code).toBe('WRITES_STOPPED')
  const revoked = await stack.owner.post(`/keys/${other.keyId}/revoke`)
  expect(revoked.status, 'what only takes away goes on').toBe(200)
  const less = await stack.owner.call('PATCH', `/keys/${key.keyId}`, {
    body: { daily_limit_usd: '900000' },
  })
  expect(less.status, less.text).toBe(200)
  const more = await stack.owner.call('PATCH', `/keys/${key.keyId}`, {
    body: { daily_limit_usd: '950000' },
  })
  expect(more.code).toBe('WRITES_STOPPED')
  const blocked = await stack.owner.post('/address-rules', {
    ...{ address: '0x1111111111111111111111111111111111111111', action: 'block' },
  })
  expect(blocked.status, blocked.text).toBe(201)
  disk.empty()
  await isUp()
})

test('a disk that runs full under load loses nothing that was acknowledged, and all comes back', async () => {
  const { service, owner } = stack
  const before = service.dev().pids
  // A service that ends over the disk answers no more; what it had not answered is not promised.
  const sends = Array.from({ length: SENDS }, () => send().catch(() => null))
  disk.fillTo(0)
  const acknowledged = (await Promise.all(sends)).flatMap((reply) =>
    reply?.status === 200 && reply.json.tx_id !== undefined ? [reply.json.tx_id] : [],
  )
  for (const part of PARTS) {
    try {
      service.signal(part, 'SIGKILL')
    } catch {
      // It has ended already: a commit that the disk did not take is none.
    }
  }
  disk.empty()
  for (const part of PARTS) await service.awaitRestart(part, before[part] ?? 0)
  await isUp()
  for (const txId of acknowledged) {
    expect((await finalOf(key.api, txId)).status, txId).toBe('confirmed')
  }
  const seen = new Set<string>()
  let after = 0
  for (let more = true; more; ) {
    const { json } = await owner.get(`/events?limit=100&after=${after}`)
    const page = json as unknown as EventPage
    for (const { type, data } of page.events) {
      if (type === 'transaction.confirmed' && data.tx_id !== undefined) seen.add(data.tx_id)
    }
    after = page.next_after
    more = page.has_more
  }
  for (const txId of acknowledged) expect(seen.has(txId), `event of ${txId}`).toBe(true)
})
