import { describe, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createLeaderHeartbeats } from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { LEADER_SILENT_MS } from '../../src/journal/watch-leader.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import { localCommits } from '../../src/store/local-commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import {
  emptyStore,
  follow,
  followed,
  LATE_LOOKS,
  leaderAtWork,
  leaderOf,
  PARTITION,
  passes,
  TURNS_MAX,
  untilSo,
} from './following-fixtures.js'
import { contentsOf, doWork, startOn, work } from './journaled-fixtures.js'

describe('a store that follows the owner of its journal', () => {
  test('has what the owner has, and waits for as long as that lives', async () => {
    const { timers, engine, leader } = await leaderAtWork(5)
    const following = await followed(engine.connect(), timers)
    await doWork(leader.store, 5, 5)
    const { stored } = leader.store.writer.readings
    await untilSo(timers, () => following.progress()?.applied === stored)
    expect(contentsOf(following.environment)).toEqual(contentsOf(leader.store.environment))
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    expect(following.progress()).toEqual({
      epoch: 1,
      leader: 'test',
      stored,
      applied: stored,
      restoring: null,
      hindrance: null,
      asked: null,
    })
  })

  test('has what the owner itself says that it has stored, before that is said in the journal', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const inner = engine.connect()
    await passes(timers, 1_000)
    const said = (await inner.readHead(PARTITION)).beat
    expect(said?.stored).toBeGreaterThan(0)
    const journal: Pick<Journal, 'readHead' | 'read' | 'trim'> = {
      ...{ read: inner.read, trim: inner.trim },
      // As soon after another as no owner says it.
      readHead: async (partition) => ({ ...(await inner.readHead(partition)), beat: said }),
    }
    const storedAfter = () => Promise.resolve(leader.store.writer.readings.stored)
    const following = follow(journal, timers, emptyStore(), storedAfter)
    const applied = () => journalPositionOf(following.environment)?.seq ?? 0
    await untilSo(timers, () => applied() > 0)
    await doWork(leader.store, 1, 5)
    const { stored } = leader.store.writer.readings
    await untilSo(timers, () => applied() === stored)
    expect(contentsOf(following.environment)).toEqual(contentsOf(leader.store.environment))
  })

  test('follows the journal on where its owner does not say what it has stored', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const storedAfter = () =>
      new Promise<number>((resolve) => timers.at(timers.now() + 500, () => resolve(0)))
    const following = follow(engine.connect(), timers, emptyStore(), storedAfter)
    await doWork(leader.store, 1, 5)
    const { stored } = leader.store.writer.readings
    await untilSo(timers, () => following.progress()?.applied === stored)
    leader.die()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes over once the owner is silent for long enough, and no sooner', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const following = await followed(engine.connect(), timers)
    leader.die()
    await passes(timers, LEADER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes over at once from an owner that says that it leaves', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const following = await followed(engine.connect(), timers)
    const leaving = leader.beats.leave()
    const saidAtMs = timers.now()
    await untilSo(timers, () => following.overtakes() === 1)
    await leaving
    expect(timers.now() - saidAtMs).toBeLessThan(LEADER_SILENT_MS)
  })

  test('counts the silence again while the journal does not answer', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const inner = engine.connect()
    let isAway = false
    const journal: Pick<Journal, 'readHead' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      readHead: (partition) =>
        isAway ? Promise.reject(new JournalUnavailable('away')) : inner.readHead(partition),
    }
    const following = await followed(journal, timers)
    isAway = true
    await passes(timers, 3 * LEADER_SILENT_MS)
    leader.die()
    await passes(timers, 3 * LEADER_SILENT_MS)
    isAway = false
    await passes(timers, LEADER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('counts the silence again after an answer that the journal was long in giving', async () => {
    const { timers, engine, leader } = await leaderAtWork(1)
    const inner = engine.connect()
    let isSlow = false
    let answeredAtMs: number | null = null
    const journal: Pick<Journal, 'readHead' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      async readHead(partition) {
        const wasSlow = isSlow
        isSlow = false
        if (wasSlow) {
          await new Promise<void>((resolve) =>
            timers.at(timers.now() + 2 * LEADER_SILENT_MS, resolve),
          )
          answeredAtMs = timers.now()
        }
        return inner.readHead(partition)
      },
    }
    const following = await followed(journal, timers)
    leader.die()
    isSlow = true
    await untilSo(timers, () => answeredAtMs !== null)
    await passes(timers, LEADER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes for no silence that what is written waits, and with it what the owner says', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const inner = engine.connect()
    const leader = await startOn(inner)
    let held: (() => void)[] | null = null
    const written = () => new Promise<void>((go) => (held === null ? go() : held.push(go)))
    const beats = createLeaderHeartbeats(
      {
        async heartbeat(...asked) {
          await written()
          await inner.heartbeat(...asked)
        },
      },
      PARTITION,
      timers,
    )
    beats.begin(leader.writer.leadership.epoch, () => leader.writer.readings.stored)
    await doWork(leader, 0, 1)
    let probes = 0
    const following = await followed(
      {
        readHead: inner.readHead,
        read: inner.read,
        async trim(...asked) {
          probes++
          await written()
          await inner.trim(...asked)
        },
      },
      timers,
    )
    // A disk that stands still, and is read all the same.
    held = []
    await passes(timers, 4 * LEADER_SILENT_MS)
    expect(probes).toBe(1)
    expect(following.overtakes()).toBeNull()
    const waiting: readonly (() => void)[] = held
    held = null
    for (const go of waiting) go()
    await passes(timers, LEADER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    // It is silent by itself now.
    await beats.handOver()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes an answer that came late for no silence', async () => {
    const { timers, engine } = await leaderAtWork(1)
    const inner = engine.connect()
    let looks = 0
    const journal: Pick<Journal, 'readHead' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      // The server looks at once, and a network or a busy machine keeps the answer back.
      async readHead(partition) {
        const head = await inner.readHead(partition)
        if (++looks % 2 === 0) {
          await new Promise<void>((resolve) =>
            timers.at(timers.now() + 2 * LEADER_SILENT_MS, resolve),
          )
        }
        return head
      },
    }
    const following = follow(journal, timers)
    for (let turn = 0; looks <= LATE_LOOKS && turn < TURNS_MAX; turn++) {
      await passes(timers, LEADER_SILENT_MS)
      expect(following.overtakes()).toBeNull()
    }
    expect(looks).toBeGreaterThan(LATE_LOOKS)
  })

  test('hears no life of an owner in the beats of one before it', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const zombie = await leaderOf(engine, timers)
    await doWork(zombie.store, 0, 1)
    // Takes the journal and dies before it says anything; the one before is at rest, and never heard.
    await engine.connect().acquire(PARTITION, 'dies', 'at once')
    const following = follow(engine.connect(), timers)
    await passes(timers, 2 * LEADER_SILENT_MS)
    await untilSo(timers, () => following.overtakes() === 2)
  })

  test('takes no journal without entries with an empty store', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const following = follow(engine.connect(), timers)
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    expect(following.progress()).toEqual({
      epoch: 0,
      leader: null,
      stored: 0,
      applied: 0,
      restoring: null,
      hindrance: null,
      asked: null,
    })
    // The first owner dies before its first entry: there is nothing yet that could be gone on with.
    const first = await leaderOf(engine, timers)
    first.die()
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    const leader = await leaderOf(engine, timers)
    await doWork(leader.store, 0, 1)
    await untilSo(timers, () => (following.progress()?.applied ?? 0) > 0)
    leader.die()
    await untilSo(timers, () => following.overtakes() === 2)
  })

  test('with records of its own, does not begin to follow one that comes to have entries', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const environment = emptyStore()
    const batch = new WriteBatch()
    work(batch, 1)
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    await localCommits(environment, sequence).commit(batch)
    const before = contentsOf(environment)
    const leader = await leaderOf(engine, timers)
    const following = follow(engine.connect(), timers, environment)
    await untilSo(timers, () => following.progress() !== null)
    await doWork(leader.store, 2, 2)
    await untilSo(timers, () => following.failure() !== null)
    expect(String(following.failure())).toMatch(/to two services/)
    expect(contentsOf(environment)).toEqual(before)
  })

  test('ends with what to do where its journal was set back', async () => {
    const { timers, engine } = await leaderAtWork(3)
    const inner = engine.connect()
    let other: Journal | null = null
    const journal: Pick<Journal, 'readHead' | 'read' | 'trim'> = {
      readHead: (partition) => (other ?? inner).readHead(partition),
      read: (...asked) => (other ?? inner).read(...asked),
      trim: (...asked) => (other ?? inner).trim(...asked),
    }
    const following = await followed(journal, timers)
    const set = createMemoryEngine()
    const next = await leaderOf(set, timers)
    await doWork(next.store, 10, 9)
    other = set.connect()
    await untilSo(timers, () => following.failure() !== null)
    expect(String(following.failure())).toMatch(/another store|rolled back/)
  })
})
