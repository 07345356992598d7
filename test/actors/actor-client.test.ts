import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { subWalletAddress } from '../../actors/addresses.js'
import { type ActorClient, startActors } from '../../actors/runtime/actor-client.js'
import type { WorkerStart } from '../../actors/runtime/protocol.js'
import { startWorkerThreads } from '../../actors/runtime/worker-threads.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { KEY_ID, START_MS, USER_ID } from './wallet-fixtures.js'

const WALLET = subWalletAddress({ subWalletId: 'sw_1' as SubWalletId, userId: USER_ID })
const NO_METER = { queue: () => undefined, latency: () => () => undefined }

/** A worker that answers nothing, and a journal that answers or not. */
async function unanswering() {
  const timers = new VirtualTimers(START_MS)
  const journal = { isSilent: false }
  const client: ActorClient = await startActors({
    threads: startWorkerThreads({
      entry: new URL('./fixtures-silent-worker.mjs', import.meta.url),
      // Of what a worker starts with, this one reads nothing.
      starts: [{ lists: { port: new MessageChannel().port1 } } as unknown as WorkerStart],
      onExit: () => undefined,
    }),
    begin: { sequence: new SharedArrayBuffer(8), leadership: null },
    timers,
    meter: NO_METER,
    onKeyChanged: () => undefined,
    onHead: () => undefined,
    onFreezes: () => undefined,
    isHeldUp: () => journal.isSilent,
    onFatal: () => undefined,
  })
  const told: unknown[] = []
  const ask = () =>
    client
      .ask(WALLET, { type: 'read-limits', keyId: KEY_ID, nowMs: START_MS })
      .then((answer) => told.push(answer.ok ? 'done' : answer.fault))
  return { timers, journal, client, told, ask }
}

test('a caller waits for a minute while commits go on, and is told then that nobody knows', async () => {
  const { timers, client, told, ask } = await unanswering()
  void ask()
  await timers.pass(59_000)
  expect(told).toEqual([])
  await timers.pass(2_000)
  expect(told).toMatchObject([{ code: 'OUTCOME_UNKNOWN', details: { reason: 'late' } }])
  expect(client.waiting).toBe(0)
  await client.close()
})

test('callers who have waited for eight seconds of a silent journal are told, and later ones not yet', async () => {
  const { timers, journal, client, told, ask } = await unanswering()
  void ask()
  await timers.pass(20_000)
  journal.isSilent = true
  void ask()
  await timers.pass(2_000)
  expect(told).toMatchObject([{ code: 'OUTCOME_UNKNOWN', details: { reason: 'journal' } }])
  await timers.pass(4_000)
  expect(told).toHaveLength(1)
  await timers.pass(4_000)
  expect(told).toHaveLength(2)
  await client.close()
})

test('a journal that answers again in time leaves its callers waiting for what becomes of it', async () => {
  const { timers, journal, client, told, ask } = await unanswering()
  journal.isSilent = true
  void ask()
  await timers.pass(6_000)
  journal.isSilent = false
  await timers.pass(40_000)
  expect(told).toEqual([])
  await client.close()
})
