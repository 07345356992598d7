import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RetentionStart } from '../../actors/retention/worker.js'
import { createChainTimeBuffer, keepChainTime } from '../../src/clock/chain-time.js'
import { DAY_MS } from '../../src/domain/retention.js'
import { STEP_RECORDS_MAX } from '../../src/store/retention/step.js'
import { createVersionsBuffer } from '../../src/store/versions.js'
import { openRealStore, type RealStore } from './real-store.js'
import { appendEvents, entryAt, NOW_MS, newEvent, OLD_MS, seqsOf } from './retention-world.js'
import { USER_ID } from './wallet-fixtures.js'

const PROCESS = fileURLToPath(new URL('./fixtures-pruning-process.mjs', import.meta.url))
const THREAD = new URL('../../dist/actors/retention/worker.js', import.meta.url)
const KEPT_MS = 30 * DAY_MS
const YOUNG = 5

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

/** @returns 'killed' after its first step, or 'ended' where that was its last */
function pruneUntilKilled(): Promise<'killed' | 'ended'> {
  return new Promise((resolve, reject) => {
    const child = fork(PROCESS, [store.directory, String(NOW_MS), String(KEPT_MS)])
    const killWithParent = () => child.kill('SIGKILL')
    process.once('exit', killWithParent)
    child.once('message', () => child.kill('SIGKILL'))
    child.once('error', reject)
    child.once('exit', (_code, signal) => {
      process.removeListener('exit', killWithParent)
      resolve(signal === 'SIGKILL' ? 'killed' : 'ended')
    })
  })
}

/** The log has no gap behind its beginning, and the beginning is where the store says. */
function expectWhole(last: number): void {
  store.reader.fresh()
  const start = store.reader.events.logStart(USER_ID)
  const seqs = seqsOf(store)
  expect(seqs[0]).toBe(start + 1)
  expect(seqs).toEqual(Array.from({ length: last - start }, (_, n) => start + 1 + n))
}

describe('when the removal of old records is killed', () => {
  test('after any step, the log is whole, and the next run goes on from there', async () => {
    const old = 3 * STEP_RECORDS_MAX
    await store.write((writer) => {
      for (let n = 0; n < old; n++) writer.appendAudit(entryAt(OLD_MS))
    })
    // A commit each: a block of the log is one commit's.
    for (let n = 0; n < old; n++) {
      await store.write((writer) => writer.appendEvent(newEvent(OLD_MS)))
    }
    await appendEvents(store, YOUNG, NOW_MS)
    const starts: number[] = []
    for (let run = 0; run < 12; run++) {
      const fate = await pruneUntilKilled()
      expectWhole(old + YOUNG)
      starts.push(store.reader.events.logStart(USER_ID))
      if (fate === 'ended') break
    }
    expect(seqsOf(store)).toHaveLength(YOUNG)
    expect(new Set(starts).size).toBeGreaterThan(1)
  })
})

function chainTimeOf(timestampMs: number): SharedArrayBuffer {
  const buffer = createChainTimeBuffer()
  keepChainTime(buffer)({ chainId: 1, hash: '0x1', timestampMs })
  return buffer
}

describe('the thread that removes old records', () => {
  test('does so alongside whoever writes, and ends when it is told to', async () => {
    const nowMs = Date.now()
    for (let n = 0; n < 20; n++) await appendEvents(store, 1, nowMs - 2 * KEPT_MS)
    const start: RetentionStart = {
      storeDirectory: store.directory,
      recordVersions: createVersionsBuffer(),
      chainTime: chainTimeOf(nowMs),
      retention: { deliveriesMs: null, eventsMs: KEPT_MS, auditMs: null },
      intervalMs: 10,
      logLevel: 'silent',
    }
    const worker = new Worker(THREAD, { workerData: start })
    const ended = new Promise<number>((resolve) => worker.once('exit', resolve))
    const seqs = () => {
      store.reader.fresh()
      return seqsOf(store)
    }
    try {
      for (let n = 0; n < YOUNG; n++) await appendEvents(store, 1, nowMs)
      await expect.poll(seqs, { timeout: 30_000 }).toEqual([21, 22, 23, 24, 25])
      expectWhole(20 + YOUNG)
    } finally {
      worker.postMessage('stop')
    }
    expect(await ended).toBe(0)
  })
})
