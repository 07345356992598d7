import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Journal, Snapshots } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import type { SnapshotMade } from '../../src/store/snapshots/make-snapshot.js'
import { keepSnapshots } from '../../src/store/snapshots/snapshot-keeper.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { drawClaim } from './races.js'

const PARTITION = 0
const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ENTRY = Buffer.alloc(100)
const CHUNK = Buffer.alloc(10)
const silent = { error: () => undefined, warn: () => undefined, info: () => undefined }

/** Turns in which what was due goes on until it waits for time again. */
const TURNS = 20

interface Options {
  readonly hasBase?: boolean
  readonly entries?: number
  readonly chunkBytes?: number
}

/** The owner of a journal of so many entries, and what keeps its snapshots. */
async function leader({ hasBase = false, entries = 0, chunkBytes = CHUNK.length }: Options = {}) {
  const timers = new VirtualTimers(0)
  const journal: Journal = createMemoryEngine().connect()
  const snapshots = journal.snapshots as Snapshots
  const { epoch } = await journal.acquire(PARTITION, 'test', drawClaim())
  const readings = { stored: 0, appendedBytes: 0 }
  async function append(count: number, appendedBytes = ENTRY.length): Promise<void> {
    for (let index = 0; index < count; index++) {
      const seq = ++readings.stored
      await journal.append({ partition: PARTITION, epoch, seq }, ENTRY)
      readings.appendedBytes += appendedBytes
    }
  }
  // Of a service before this one.
  await append(entries, 0)
  const state = { makes: 0, isFailing: false, isAborted: false }
  async function make(): Promise<SnapshotMade> {
    state.makes++
    if (state.isFailing) throw new Error('a damaged record')
    const id = drawClaim()
    const at = { partition: PARTITION, epoch, id }
    await snapshots.put({ ...at, index: 0 }, Buffer.alloc(chunkBytes))
    await snapshots.publish({ ...at, seq: readings.stored, chunks: 1, atMs: timers.now() })
    return { kind: 'made', seq: readings.stored, rows: 1, bytes: chunkBytes }
  }
  function keeps() {
    return keepSnapshots({
      ...{ journal, snapshots, partition: PARTITION, epoch, readings, hasBase },
      ...{ tailBytesMax: 1_000, marginEntries: 2, timers, log: silent, make },
    })
  }
  async function passes(ms: number): Promise<void> {
    await timers.pass(ms)
    for (let turns = 0; turns < TURNS; turns++) await turn()
    // What rests between two removals.
    for (let rests = 0; rests < 5; rests++) {
      await timers.pass(50)
      for (let turns = 0; turns < TURNS; turns++) await turn()
    }
  }
  return { journal, snapshots, epoch, state, append, keeps, passes, readings }
}

describe('the keeper of snapshots', () => {
  test('has one made once the entries after the last one have many bytes, and trims then', async () => {
    const { journal, state, append, keeps, passes } = await leader()
    const keeper = keeps()
    await append(10)
    await passes(10 * SECOND_MS)
    expect(state.makes).toBe(0)
    await append(1)
    await passes(SECOND_MS)
    expect(state.makes).toBe(1)
    expect(keeper.readings).toMatchObject({ newest: { seq: 11 }, tailBytes: 0 })
    expect((await journal.readHead(PARTITION)).first).toBe(10)
    await append(10)
    await passes(10 * SECOND_MS)
    expect(state.makes).toBe(1)
    expect(keeper.readings.tailBytes).toBe(1_000)
    await append(1)
    await passes(SECOND_MS)
    expect(state.makes).toBe(2)
    await keeper.close()
  })

  test('counts what was there before the service started', async () => {
    const { state, keeps, passes } = await leader({ entries: 11 })
    const keeper = keeps()
    await passes(SECOND_MS)
    expect(state.makes).toBe(1)
    await keeper.close()
  })

  test('has one made at once of a store that was there before its journal', async () => {
    const { state, append, keeps, passes } = await leader({ hasBase: true, entries: 1 })
    const keeper = keeps()
    await passes(SECOND_MS)
    expect(state.makes).toBe(1)
    await append(1)
    await passes(10 * SECOND_MS)
    expect(state.makes).toBe(1)
    await keeper.close()
  })

  test('writes no large snapshot again for few entries', async () => {
    const { state, append, keeps, passes } = await leader({ entries: 11, chunkBytes: 10_000 })
    const keeper = keeps()
    await passes(SECOND_MS)
    await append(50)
    await passes(10 * SECOND_MS)
    expect(state.makes).toBe(1)
    await append(1)
    await passes(SECOND_MS)
    expect(state.makes).toBe(2)
    await keeper.close()
  })

  test('tries one that fails again, later each time, trims nothing, and says that entries pile up', async () => {
    const { journal, state, append, keeps, passes } = await leader({ entries: 11 })
    state.isFailing = true
    const keeper = keeps()
    await passes(SECOND_MS)
    expect([state.makes, keeper.readings.failures, keeper.isBehind()]).toEqual([1, 1, false])
    await append(40)
    expect(keeper.isBehind()).toBe(true)
    await passes(MINUTE_MS)
    await passes(MINUTE_MS)
    expect(state.makes).toBe(2)
    await passes(2 * MINUTE_MS)
    expect(state.makes).toBe(3)
    for (let hours = 0; hours < 8; hours++) await passes(HOUR_MS)
    const tried = state.makes
    await passes(HOUR_MS)
    expect(state.makes - tried).toBeLessThanOrEqual(1)
    expect((await journal.readHead(PARTITION)).first).toBe(1)
    state.isFailing = false
    await passes(2 * HOUR_MS)
    expect([keeper.readings.newest?.seq, keeper.isBehind()]).toEqual([51, false])
    expect((await journal.readHead(PARTITION)).first).toBe(50)
    await keeper.close()
  })

  test('does at its start what the one before it had no time for', async () => {
    const { journal, snapshots, epoch, state, append, keeps, passes } = await leader({ entries: 9 })
    const at = { partition: PARTITION, epoch }
    await snapshots.put({ ...at, id: 'broken off', index: 0 }, CHUNK)
    await snapshots.put({ ...at, id: 'whole', index: 0 }, CHUNK)
    await snapshots.publish({ ...at, id: 'whole', seq: 9, chunks: 1, atMs: 0 })
    await append(1)
    const keeper = keeps()
    await passes(SECOND_MS)
    expect(state.makes).toBe(0)
    expect((await journal.readHead(PARTITION)).first).toBe(8)
    expect(await snapshots.sweep(PARTITION, epoch)).toBe(0)
    expect(Buffer.from(await snapshots.read(PARTITION, 'whole', 0))).toEqual(CHUNK)
    expect(keeper.readings.tailBytes).toBe(ENTRY.length)
    await keeper.close()
  })
})
