import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countersign, countersignOk } from '../custody/command.js'
import { type ChainView, chainView, erc20Transfer, newAddress } from '../e2e/chain.js'
import { runLoad } from '../e2e/load.js'
import { finalOf, type IssuedKey, issueKey, type Stack, startStack } from '../e2e/stack.js'
import type { ServicePart } from '../support/service.js'

/**
 * Machines are lost under load and come back from a backup, on a whole stack: `npm run test:long -- restore`.
 * Chains are the world outside, and stay.
 */

const BASE = 8453
const USD = 1_000_000n
const CAP_USD = 80
/** Sends of a dollar each: while the backup is made, and after it. */
const SENDS = 40
const LATER_SENDS = 10
const POLL_MS = 100
const GONE_MS = 120_000

let stack: Stack
let chain: ChainView

beforeAll(async () => {
  stack = await startStack()
  chain = chainView(stack.service.dev(), BASE)
})
afterAll(() => stack?.service.stop())

const at = (...path: string[]) => join(stack.service.home, ...path)

/** What was acknowledged before a moment, and after it. */
interface Paid {
  readonly key: IssuedKey
  readonly recipient: `0x${string}`
  readonly acknowledged: string[]
}

const newPaid = async (): Promise<Paid> => ({
  key: await issueKey(stack, { dailyUsd: String(CAP_USD), monthlyUsd: '1000', chains: [BASE] }),
  recipient: newAddress(),
  acknowledged: [],
})

async function pay(paid: Paid, sends: number, connections = 8): Promise<void> {
  const { key, recipient } = paid
  const load = { key, chainId: BASE, usdc: chain.usdc, recipient, sends, connections }
  const { sent, refused } = await runLoad(load)
  expect(refused).toBe(0)
  paid.acknowledged.push(...sent)
}

function payOne({ key, recipient }: Paid) {
  const body = { chain_id: BASE, to: chain.usdc, data: erc20Transfer(recipient, USD) }
  return key.api.post('/api/tx/send', body, { 'idempotency-key': randomUUID() })
}

/** SIGKILL of all at once; nothing is started again before `comeBack`. */
async function kill(parts: readonly ServicePart[]): Promise<void> {
  const { service } = stack
  const pids = parts.map((part) => service.dev().pids[part] ?? 0)
  service.restarts(false)
  for (const part of parts) service.signal(part, 'SIGKILL')
  const deadlineMs = Date.now() + GONE_MS
  while (pids.some(isRunning)) {
    if (Date.now() > deadlineMs) throw new Error(`still there: ${pids.join(', ')}`)
    await delay(POLL_MS)
  }
}

/** Its parent is stopped, so what has ended is there until it goes on. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function comeBack(parts: readonly ServicePart[]): Promise<void> {
  const { service } = stack
  const before = parts.map((part) => [part, service.dev().pids[part] ?? 0] as const)
  service.restarts(true)
  for (const [part, pid] of before) await service.awaitRestart(part, pid)
  const deadlineMs = Date.now() + GONE_MS
  const { base_url } = service.dev()
  for (;;) {
    const ready = await fetch(`${base_url}/readyz`).catch(() => null)
    if (ready?.ok === true) return
    if (Date.now() > deadlineMs) throw new Error(`not ready: ${await ready?.text()}`)
    await delay(POLL_MS)
  }
}

/** By place, the ids of all events there are. */
async function eventsOf({ owner }: Stack): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (let after = 0; ; ) {
    const { json, text } = await owner.get(`/events?limit=100&after=${after}`)
    const events = json.events as readonly { readonly event_id: string; readonly seq: number }[]
    if (events === undefined) throw new Error(text)
    for (const { seq, event_id } of events) found.set(seq, event_id)
    after = Number(json.next_after)
    if (json.has_more !== true) return found
  }
}

async function allThere(paid: Paid, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    expect(await finalOf(paid.key.api, id)).toMatchObject({ status: 'confirmed' })
}

const codeOf = async (sent: ReturnType<typeof payOne>) => (await sent).code

/**
 * What was acknowledged before the copy was paid; and nothing twice. What came after it may be lost
 * with the machine while it was signed and waited for its turn: no node had it then.
 */
async function paidAtMostOnce(paid: Paid, before: readonly string[]): Promise<void> {
  const balance = await chain.usdcBalance(paid.recipient)
  expect(balance).toBeGreaterThanOrEqual(BigInt(before.length) * USD)
  expect(balance).toBeLessThanOrEqual(
    BigInt(Math.max(paid.acknowledged.length, before.length)) * USD,
  )
}

/** What a restored instance must show, whichever machine was lost. */
describe.sequential('an instance that loses machines under load', () => {
  test('the wallet service’s: loses no acknowledged send, passes no cap, doubles nothing', async () => {
    const [busy, dead] = [await newPaid(), await newPaid()]
    await pay(busy, 5)
    const before = [...busy.acknowledged]
    // Sends are under way while the copy is made.
    const [, made] = await Promise.all([
      pay(busy, SENDS),
      countersignOk(stack.service.home, [
        'backup',
        'create',
        '--to',
        at('b1'),
        '--with-keys',
        '--json',
      ]),
    ])
    expect(JSON.parse(made).parts).toEqual(['service', 'user', 'quorum', 'config'])
    await countersignOk(stack.service.home, ['backup', 'verify', at('b1')])
    await pay(busy, LATER_SENDS)
    expect((await stack.owner.post(`/keys/${dead.key.keyId}/revoke`)).status).toBe(200)
    const seen = await eventsOf(stack)
    await kill(['service'])
    rmSync(at('service'), { recursive: true })

    const home = stack.service.home
    const early = await countersign(home, ['backup', 'restore', '--from', at('b1')])
    expect(early.code).not.toBe(0)
    expect(existsSync(at('service'))).toBe(false)
    const restored = await countersignOk(home, [
      ...['backup', 'restore', '--from', at('b1'), '--part', 'service', '--json'],
      ...['--user-log', at('identity-provider')],
    ])
    expect(JSON.parse(restored).parts[0].fenced.takenBack).toBe(1)
    await comeBack(['service'])

    await allThere(busy, before)
    // By the copy alone some of its cap would be left that was spent since.
    expect(await codeOf(payOne(busy))).toBe('LIMIT_EXCEEDED')
    expect((await payOne(dead)).status).toBe(401)
    // Nonces go on behind all that was signed, whether a node had it or not.
    const fresh = await newPaid()
    await pay(fresh, 3, 1)
    await allThere(fresh, fresh.acknowledged)
    await paidAtMostOnce(busy, before)
    expect(await chain.usdcBalance(fresh.recipient)).toBe(3n * USD)
    await newPlacesAlone(seen)
  })

  test('all of them: stays closed until it is opened, and then pays nothing twice', async () => {
    const [busy, dead] = [await newPaid(), await newPaid()]
    await pay(busy, 5)
    const before = [...busy.acknowledged]
    const { home } = stack.service
    await Promise.all([
      pay(busy, LATER_SENDS),
      countersignOk(home, ['backup', 'create', '--to', at('b2'), '--with-keys']),
    ])
    await pay(busy, LATER_SENDS)
    expect((await stack.owner.post(`/keys/${dead.key.keyId}/revoke`)).status).toBe(200)
    const seen = await eventsOf(stack)
    const parts = ['service', 'identity_provider', 'quorum_signer'] as const
    await kill(parts)
    for (const name of ['service', 'identity-provider', 'quorum-signer', 'registry.json']) {
      rmSync(at(name), { recursive: true })
    }
    await countersignOk(home, ['backup', 'restore', '--from', at('b2'), '--nothing-outlived'])
    await comeBack(parts)

    await allThere(busy, before)
    expect(await codeOf(payOne(busy))).toMatch(/FROZEN/)
    // It was revoked after the backup: nobody knows, so it is revoked again before anything opens.
    expect(await codeOf(payOne(dead))).toMatch(/FROZEN/)
    const owner = stack.service.console(await stack.service.token())
    expect((await owner.post(`/keys/${dead.key.keyId}/revoke`)).status).toBe(200)
    for (const domain of ['service', 'user']) {
      await countersignOk(home, ['custody', 'unfreeze', '--domain', domain])
    }
    await expect.poll(() => codeOf(payOne(busy))).toBe('LIMIT_EXCEEDED')
    expect((await payOne(dead)).status).toBe(401)
    await paidAtMostOnce(busy, before)
    const fresh = await newPaid()
    // The identity provider looks every 200 ms whether it is frozen.
    await expect
      .poll(async () => {
        const { json } = await payOne(fresh)
        if (json.tx_id !== undefined) fresh.acknowledged.push(json.tx_id)
        return fresh.acknowledged.length
      })
      .toBe(1)
    await pay(fresh, 2, 1)
    await allThere(fresh, fresh.acknowledged)
    expect(await chain.usdcBalance(fresh.recipient)).toBe(3n * USD)
    await newPlacesAlone(seen)
  })
})

/** What a place had before, it has now or nothing has; what is new is behind all of it. */
async function newPlacesAlone(seen: ReadonlyMap<number, string>): Promise<void> {
  const last = Math.max(...seen.keys())
  let added = 0
  for (const [seq, id] of await eventsOf(stack)) {
    if (seq > last) added++
    else expect(id).toBe(seen.get(seq))
  }
  expect(added).toBeGreaterThan(0)
}
