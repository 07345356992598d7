import { describe, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createLeaderHeartbeats } from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { LEADER_SILENT_MS, UNFIT_WAITS_MS } from '../../src/journal/watch-leader.js'
import type { FollowProgress } from '../../src/store/follow-leader.js'
import { drainRow, MOVE_HELD_MS, moveRow, nodeIdOf } from '../../src/store/journal-move.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { PARTITION } from '../../src/store/journaled-store.js'
import { encodeRows } from '../../src/store/rows-encoding.js'
import { standBy } from '../../src/store/stand-by.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { emptyStore, leaderAtWork, passes, untilSo } from './following-fixtures.js'
import { contentsOf, doWork, log, startOn } from './journaled-fixtures.js'

/** As `untilSo`, in longer steps. */
async function untilLater(timers: VirtualTimers, isSo: () => boolean): Promise<void> {
  await expect
    .poll(
      async () => {
        await timers.pass(250)
        return isSo()
      },
      { timeout: 30_000, interval: 20 },
    )
    .toBe(true)
}

describe('a standby', () => {
  function standsBy(
    journal: Journal,
    timers: VirtualTimers,
    hindrance: () => Promise<string | null> = async () => null,
    node = 'standby',
    writesStop: () => string | null = () => null,
  ) {
    const environment = emptyStore()
    const beats = createLeaderHeartbeats(journal, PARTITION, timers)
    let writer: JournalWriter | null = null
    let failure: unknown = null
    let progress: FollowProgress | null = null
    standBy(
      {
        ...{ environment, journal, node, timers, log },
        acquired: ({ epoch, seq }) => beats.begin(epoch, () => seq),
        fatal: (error) => {
          failure = error
        },
      },
      (next) => {
        progress = next
      },
      { hindrance, writesStop },
    ).then(
      (its) => {
        writer = its
      },
      (error: unknown) => {
        failure = error
      },
    )
    const applied = () => progress?.applied ?? 0
    const hindered = () => progress?.hindrance ?? null
    const asked = () => progress?.asked ?? null
    return { environment, applied, hindered, asked, writer: () => writer, failure: () => failure }
  }

  /** What reads are asked of goes through, as at a server whose disk is full. */
  function readOnly(inner: Journal, isSo: () => boolean, noteTake: () => void): Journal {
    const refused = () => Promise.reject(new JournalUnavailable('read-only'))
    return {
      ...inner,
      acquire(...asked) {
        if (!isSo()) return inner.acquire(...asked)
        noteTake()
        return refused()
      },
      append: (...asked) => (isSo() ? refused() : inner.append(...asked)),
      heartbeat: (...asked) => (isSo() ? refused() : inner.heartbeat(...asked)),
    }
  }

  test('ends no owner that is silent since the journal takes no writes of anybody', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    let isReadOnly = false
    const ofLeader = readOnly(
      engine.connect(),
      () => isReadOnly,
      () => undefined,
    )
    const store = await startOn(ofLeader)
    const beats = createLeaderHeartbeats(ofLeader, PARTITION, timers)
    beats.begin(store.writer.leadership.epoch, () => store.writer.readings.stored)
    await doWork(store, 0, 2)
    let refusedTakes = 0
    const ofStandby = readOnly(
      engine.connect(),
      () => isReadOnly,
      () => {
        refusedTakes++
      },
    )
    const standby = standsBy(ofStandby, timers)
    await untilSo(timers, () => standby.applied() > 0)
    isReadOnly = true
    await untilSo(timers, () => refusedTakes > 1)
    isReadOnly = false
    expect(standby.failure()).toBeNull()
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect(standby.writer()).toBeNull()
    await doWork(store, 2, 1)
    expect(store.failures).toEqual([])
    await ofLeader.close()
    await untilSo(timers, () => standby.writer() !== null)
  })

  test('that could sign nothing leaves the journal to one that could', async () => {
    const { timers, engine, leader } = await leaderAtWork(3)
    let why: string | null = 'the registry names none of its keys'
    const hindered = standsBy(engine.connect(), timers, () => Promise.resolve(why))
    await untilSo(timers, () => hindered.applied() > 0)
    await untilSo(timers, () => hindered.hindered() === why)
    leader.die()
    await passes(timers, 4 * LEADER_SILENT_MS)
    expect([hindered.writer(), hindered.failure()]).toEqual([null, null])
    const able = standsBy(engine.connect(), timers, () => Promise.resolve(null))
    await untilSo(timers, () => able.writer() !== null)
    await passes(timers, 4 * LEADER_SILENT_MS)
    expect([hindered.writer(), hindered.failure()]).toEqual([null, null])
    why = null
    await untilSo(timers, () => hindered.hindered() === null)
  })

  test('that would refuse writes leaves the journal to one that would not', async () => {
    const { timers, engine, leader } = await leaderAtWork(3)
    const low = standsBy(engine.connect(), timers, undefined, 'low', () => 'its disk is full')
    const able = standsBy(engine.connect(), timers, undefined, 'able')
    await untilSo(timers, () => low.hindered() === 'its disk is full' && able.applied() > 0)
    expect(able.hindered()).toBeNull()
    leader.die()
    await untilSo(timers, () => able.writer() !== null)
    await passes(timers, 2 * UNFIT_WAITS_MS)
    expect([low.writer(), low.failure()]).toEqual([null, null])
  })

  test('that would refuse writes takes the journal late rather than leave it without an owner', async () => {
    const { timers, engine, leader } = await leaderAtWork(3)
    let why: string | null = 'its disk is full'
    const low = standsBy(engine.connect(), timers, undefined, 'low', () => why)
    await untilSo(timers, () => low.hindered() === why)
    why = null
    await untilSo(timers, () => low.hindered() === null)
    why = 'its clock is wrong'
    await untilSo(timers, () => low.hindered() === why)
    const leftAtMs = timers.now()
    const leaving = leader.beats.leave()
    await untilLater(timers, () => low.writer() !== null)
    await leaving
    expect(timers.now() - leftAtMs).toBeGreaterThan(UNFIT_WAITS_MS)
    expect(contentsOf(low.environment)).toEqual(contentsOf(leader.store.environment))
  })

  test('that gives no word on whether it could takes nothing over', async () => {
    const { timers, engine, leader } = await leaderAtWork(5)
    const silent = standsBy(engine.connect(), timers, () => new Promise(() => {}))
    leader.die()
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect([silent.writer(), silent.failure()]).toEqual([null, null])
    const other = standsBy(engine.connect(), timers)
    await untilSo(timers, () => other.writer() !== null)
    expect(silent.writer()).toBeNull()
  })

  test('that could sign nothing takes over as soon as it could', async () => {
    const { timers, engine, leader } = await leaderAtWork(3)
    let why: string | null = null
    const standby = standsBy(engine.connect(), timers, () => Promise.resolve(why))
    await untilSo(timers, () => standby.applied() > 0)
    // Seen at the time of the acquisition, be it that the last look found nothing.
    why = 'its key has ended'
    leader.die()
    await untilSo(timers, () => standby.hindered() === why)
    expect(standby.writer()).toBeNull()
    why = null
    await untilSo(timers, () => standby.writer() !== null)
    expect(contentsOf(standby.environment)).toEqual(contentsOf(leader.store.environment))
  })

  /** Its owner says to whom it hands the journal over, and leaves or dies. */
  async function movedTo(name: string, epoch = 1) {
    const { timers, engine, leader } = await leaderAtWork(3)
    const waiting = ['one', 'two'].map((node) =>
      standsBy(engine.connect(), timers, undefined, node),
    )
    await untilSo(timers, () => waiting.every((each) => each.applied() > 0))
    await leader.store.writer.commit(encodeRows([moveRow({ epoch, to: nodeIdOf(name) })]))
    const writers = () => waiting.map((each) => each.writer() !== null)
    /** As it is some moments later; who leaves at once says it with that. */
    const heard = () => {
      const { stored } = leader.store.writer.readings
      return untilSo(timers, () => waiting.every((each) => each.applied() === stored))
    }
    return { timers, leader, waiting, writers, heard }
  }

  test.each([
    ['one', [true, false]],
    ['two', [false, true]],
  ])(
    'takes the journal where it is %s that the owner hands it over to, at once',
    async (to, taken) => {
      const { timers, leader, waiting, writers } = await movedTo(to)
      const saidAtMs = timers.now()
      const leaving = leader.beats.leave()
      await untilSo(timers, () => writers().includes(true))
      await leaving
      expect(timers.now() - saidAtMs).toBeLessThan(LEADER_SILENT_MS)
      await passes(timers, 2 * MOVE_HELD_MS)
      expect([writers(), waiting.map((each) => each.failure())]).toEqual([taken, [null, null]])
    },
  )

  test('takes it after a while where the one that it is handed over to does not, be the owner dead', async () => {
    const { timers, leader, writers, heard } = await movedTo('three')
    await heard()
    const diedAtMs = timers.now()
    leader.die()
    await untilLater(timers, () => writers().includes(true))
    expect(timers.now() - diedAtMs).toBeGreaterThan(MOVE_HELD_MS - LEADER_SILENT_MS / 2)
  })

  test.each([
    ['takes it at once from a node that is drained, which asks who waits', 'three'],
    ['that was drained itself leaves it to the others for a while, and no longer', 'one'],
  ])('%s', async (_what, from) => {
    const { timers, engine, leader } = await leaderAtWork(3)
    const { epoch } = leader.store.writer.leadership
    const standby = standsBy(engine.connect(), timers, undefined, 'one')
    await untilSo(timers, () => standby.applied() > 0)
    const asked = 'abc'
    await leader.store.writer.commit(encodeRows([drainRow({ epoch, from: nodeIdOf(from), asked })]))
    await untilSo(timers, () => standby.asked() === asked)
    const leftAtMs = timers.now()
    const leaving = leader.beats.leave()
    await (from === 'one' ? untilLater : untilSo)(timers, () => standby.writer() !== null)
    await leaving
    const tookMs = timers.now() - leftAtMs
    if (from === 'one') expect(tookMs).toBeGreaterThan(MOVE_HELD_MS - LEADER_SILENT_MS / 2)
    else expect(tookMs).toBeLessThan(LEADER_SILENT_MS)
  })

  test('is held back by no word of an earlier owner', async () => {
    const { timers, leader, writers } = await movedTo('three', 7)
    const saidAtMs = timers.now()
    const leaving = leader.beats.leave()
    await untilSo(timers, () => writers().includes(true))
    await leaving
    expect(timers.now() - saidAtMs).toBeLessThan(LEADER_SILENT_MS)
  })

  test('takes over with all that was stored, of two standbys one, and the other follows that', async () => {
    const { timers, engine, leader } = await leaderAtWork(3)
    const both = [standsBy(engine.connect(), timers), standsBy(engine.connect(), timers)]
    await untilSo(timers, () => both.every((each) => each.applied() > 0))
    leader.die()
    await untilSo(timers, () => both.some((each) => each.writer() !== null))
    await passes(timers, 10 * LEADER_SILENT_MS)
    expect(both.map((each) => each.failure())).toEqual([null, null])
    const [taker, other] = both.toSorted(
      (a, b) => Number(b.writer() !== null) - Number(a.writer() !== null),
    )
    expect(other?.writer()).toBeNull()
    if (taker === undefined) throw new Error('nobody took it over')
    expect(contentsOf(taker.environment)).toEqual(contentsOf(leader.store.environment))
  })
})
