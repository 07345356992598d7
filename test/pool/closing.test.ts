/**
 * A thread of a pool is not ended while it loads its modules: Node ends the whole process then,
 * since it asserts that they are linked, and so do native modules, which throw where nobody catches.
 */
import { setImmediate } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WalkPool } from '../../src/screening/walk-pool.js'
import { createSignatureChecks } from '../../src/service-custody/signature-checks.js'

const SLOW = new URL('fixtures-slow-to-load.mjs', import.meta.url)
let channel: BroadcastChannel
let loaded: Promise<void>
beforeEach(() => {
  channel = new BroadcastChannel('slow-to-load')
  loaded = new Promise((resolve) => {
    channel.onmessage = () => resolve()
  })
})
afterEach(() => channel.close())

it('by the end of the pool that walks calldata', async () => {
  const pool = new WalkPool(SLOW)
  const walk = pool.check(new Uint8Array(1))
  await setImmediate()
  await pool.close()
  await loaded
  expect(await walk).toMatchObject({ outcome: 'unavailable' })
})

it('by the end of the pool that checks signatures', async () => {
  const onFault = (error: unknown) => expect.unreachable(String(error))
  const checks = createSignatureChecks({ elapsedMs: () => performance.now(), onFault, entry: SLOW })
  const check = { point: Buffer.alloc(33), digest: Buffer.alloc(32), signature: Buffer.alloc(65) }
  expect(await checks.check([check, check, check, check])).toEqual([false, false, false, false])
  await checks.close()
  await loaded
})

it('by a walk that comes while it loads, which waits', async () => {
  const pool = new WalkPool(SLOW, 30_000)
  const first = pool.check(new Uint8Array(1))
  expect(await pool.check(new Uint8Array(1))).toEqual({ outcome: 'walked', value: null })
  expect(await first).toEqual({ outcome: 'walked', value: null })
  await loaded
  await pool.close()
})
