import { describe, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { createOwnerBeats } from '../../src/journal/owner-beats.js'
import { OWNER_SILENT_MS } from '../../src/journal/watch-owner.js'
import type { FollowProgress } from '../../src/store/follow-owner.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { PARTITION } from '../../src/store/journaled-store.js'
import { standBy } from '../../src/store/stand-by.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { emptyStore, ownerAtWork, passes, untilSo } from './following-fixtures.js'
import { contentsOf, doWork, log, startOn } from './journaled-fixtures.js'

describe('a standby', () => {
  function standsBy(
    journal: Journal,
    timers: VirtualTimers,
    hindrance?: () => Promise<string | null>,
  ) {
    const environment = emptyStore()
    const beats = createOwnerBeats(journal, PARTITION, timers)
    let writer: JournalWriter | null = null
    let failure: unknown = null
    let progress: FollowProgress | null = null
    standBy(
      {
        ...{ environment, journal, node: 'standby', timers, log },
        taken: ({ epoch, seq }) => beats.begin(epoch, () => seq),
        fatal: (error) => {
          failure = error
        },
      },
      (next) => {
        progress = next
      },
      hindrance,
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
    return { environment, applied, hindered, writer: () => writer, failure: () => failure }
  }

  /** What reads are asked of goes through, as at a server whose disk is full. */
  function readOnly(inner: Journal, isSo: () => boolean, noteTake: () => void): Journal {
    const refused = () => Promise.reject(new JournalUnavailable('read-only'))
    return {
      ...inner,
      take(...asked) {
        if (!isSo()) return inner.take(...asked)
        noteTake()
        return refused()
      },
      append: (...asked) => (isSo() ? refused() : inner.append(...asked)),
      beat: (...asked) => (isSo() ? refused() : inner.beat(...asked)),
    }
  }

  test('ends no owner that is silent since the journal takes no writes of anybody', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    let isReadOnly = false
    const ofOwner = readOnly(
      engine.connect(),
      () => isReadOnly,
      () => undefined,
    )
    const store = await startOn(ofOwner)
    const beats = createOwnerBeats(ofOwner, PARTITION, timers)
    beats.begin(store.writer.owner.epoch, () => store.writer.readings.stored)
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
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect(standby.writer()).toBeNull()
    await doWork(store, 2, 1)
    expect(store.failures).toEqual([])
    await ofOwner.close()
    await untilSo(timers, () => standby.writer() !== null)
  })

  test('that could sign nothing leaves the journal to one that could', async () => {
    const { timers, engine, owner } = await ownerAtWork(3)
    let why: string | null = 'the registry names none of its keys'
    const hindered = standsBy(engine.connect(), timers, () => Promise.resolve(why))
    await untilSo(timers, () => hindered.applied() > 0)
    await untilSo(timers, () => hindered.hindered() === why)
    owner.die()
    await passes(timers, 4 * OWNER_SILENT_MS)
    expect([hindered.writer(), hindered.failure()]).toEqual([null, null])
    const able = standsBy(engine.connect(), timers, () => Promise.resolve(null))
    await untilSo(timers, () => able.writer() !== null)
    await passes(timers, 4 * OWNER_SILENT_MS)
    expect([hindered.writer(), hindered.failure()]).toEqual([null, null])
    why = null
    await untilSo(timers, () => hindered.hindered() === null)
  })

  test('that gives no word on whether it could takes nothing over', async () => {
    const { timers, engine, owner } = await ownerAtWork(5)
    const silent = standsBy(engine.connect(), timers, () => new Promise(() => {}))
    owner.die()
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect([silent.writer(), silent.failure()]).toEqual([null, null])
    const other = standsBy(engine.connect(), timers)
    await untilSo(timers, () => other.writer() !== null)
    expect(silent.writer()).toBeNull()
  })

  test('that could sign nothing takes over as soon as it could', async () => {
    const { timers, engine, owner } = await ownerAtWork(3)
    let why: string | null = null
    const standby = standsBy(engine.connect(), timers, () => Promise.resolve(why))
    await untilSo(timers, () => standby.applied() > 0)
    // Seen at the time of the taking, be it that the last look found nothing.
    why = 'its key has ended'
    owner.die()
    await untilSo(timers, () => standby.hindered() === why)
    expect(standby.writer()).toBeNull()
    why = null
    await untilSo(timers, () => standby.writer() !== null)
    expect(contentsOf(standby.environment)).toEqual(contentsOf(owner.store.environment))
  })

  test('takes over with all that was stored, of two standbys one, and the other follows that', async () => {
    const { timers, engine, owner } = await ownerAtWork(3)
    const both = [standsBy(engine.connect(), timers), standsBy(engine.connect(), timers)]
    await untilSo(timers, () => both.every((each) => each.applied() > 0))
    owner.die()
    await untilSo(timers, () => both.some((each) => each.writer() !== null))
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect(both.map((each) => each.failure())).toEqual([null, null])
    const [taker, other] = both.toSorted(
      (a, b) => Number(b.writer() !== null) - Number(a.writer() !== null),
    )
    expect(other?.writer()).toBeNull()
    if (taker === undefined) throw new Error('nobody took it over')
    expect(contentsOf(taker.environment)).toEqual(contentsOf(owner.store.environment))
  })
})
