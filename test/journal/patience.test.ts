import { describe, expect, test } from 'vitest'
import { createLeaderHeartbeats } from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { heartbeatsWhileAlive, MAIN_STILL_MS } from '../../src/journal/pulse.js'
import {
  LEADER_SILENT_MS,
  NEW_LEADER_SILENT_MS,
  SETTLES_MS,
  watchUntilLeaderIsGone,
} from '../../src/journal/watch-leader.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { passes } from './following-fixtures.js'
import { log } from './journaled-fixtures.js'

const PARTITION = 0
/** Looks, the last of them after a write of the watcher's own. */
const LOOKS_MS = 600

/** A leader that acquires the journal, sends heartbeats for some time and is silent then; and who watches it. */
async function silentAfter(livesMs: number, failovers = 0) {
  const timers = new VirtualTimers(START_MS)
  const engine = createMemoryEngine()
  const first = engine.connect()
  await first.acquire(PARTITION, 'first', 'a claim')
  let goneAtMs: number | null = null
  void watchUntilLeaderIsGone({
    ...{ journal: engine.connect(), partition: PARTITION, timers, log, wayOut: '' },
    prepare: async () => undefined,
    follow: async () => undefined,
    hasRecords: () => true,
    hindrance: async () => null,
    failovers: () => failovers,
  }).then(() => {
    goneAtMs = timers.now()
  })
  await passes(timers, 1_000)
  const leader = engine.connect()
  const { epoch } = await leader.acquire(PARTITION, 'second', 'another claim')
  const beats = createLeaderHeartbeats(leader, PARTITION, timers)
  beats.begin(epoch, () => 1)
  await passes(timers, livesMs)
  const silentMs = timers.now()
  await leader.close()
  return {
    /** @returns how long its silence was borne with */
    async verifiedMs(): Promise<number> {
      for (let left = 40_000; goneAtMs === null && left > 0; left -= 500) await passes(timers, 500)
      return (goneAtMs ?? Number.POSITIVE_INFINITY) - silentMs
    },
  }
}

describe('a standby bears with the silence of a leader', () => {
  test('that has settled, for as long as five heartbeats', async () => {
    const { verifiedMs } = await silentAfter(SETTLES_MS)
    const ms = await verifiedMs()
    expect(ms).toBeGreaterThan(LEADER_SILENT_MS - LOOKS_MS)
    expect(ms).toBeLessThanOrEqual(LEADER_SILENT_MS + LOOKS_MS)
  })

  test('that has just acquired the journal, for longer', async () => {
    const { verifiedMs } = await silentAfter(100)
    expect(await verifiedMs()).toBeGreaterThan(NEW_LEADER_SILENT_MS - LOOKS_MS)
  })

  test.each([
    [1, LEADER_SILENT_MS],
    [2, 2 * LEADER_SILENT_MS],
    [3, 4 * LEADER_SILENT_MS],
    [4, 8 * LEADER_SILENT_MS],
    [40, 8 * LEADER_SILENT_MS],
  ])('after %i failovers that followed one another, for %i ms', async (failovers, wantedMs) => {
    const { verifiedMs } = await silentAfter(SETTLES_MS, failovers)
    const ms = await verifiedMs()
    expect(ms).toBeGreaterThan(wantedMs - LOOKS_MS)
    expect(ms).toBeLessThanOrEqual(wantedMs + LOOKS_MS)
  })
})

describe('the thread that sends the heartbeats of a leader', () => {
  function pulsing() {
    const one = { pulse: 0n, atMs: 0, said: [] as string[] }
    const { heartbeat } = heartbeatsWhileAlive(
      { heartbeat: async (_partition, _epoch, _stored, state) => void one.said.push(state) },
      () => one.pulse,
      () => one.atMs,
    )
    return { one, heartbeat: (state: 'lives' | 'leaves') => heartbeat(PARTITION, 1, 1, state) }
  }

  test('sends none for a main thread that has stood still for long, and does again once it goes on', async () => {
    const { one, heartbeat } = pulsing()
    one.atMs = MAIN_STILL_MS
    await heartbeat('lives')
    one.atMs = MAIN_STILL_MS + 1
    await heartbeat('lives')
    expect(one.said).toEqual(['lives'])
    one.pulse++
    await heartbeat('lives')
    expect(one.said).toEqual(['lives', 'lives'])
  })

  test('says that it leaves in any case', async () => {
    const { one, heartbeat } = pulsing()
    one.atMs = 10 * MAIN_STILL_MS
    await heartbeat('leaves')
    expect(one.said).toEqual(['leaves'])
  })
})
