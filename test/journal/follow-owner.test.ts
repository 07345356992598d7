import { describe, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine, type MemoryEngine } from '../../src/journal/memory-journal.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import {
  type FollowProgress,
  followUntilOwnerIsGone,
  OWNER_SILENT_MS,
} from '../../src/store/follow-owner.js'
import type { JournalWriter } from '../../src/store/journal-writer.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createOwnerBeats, type OwnerBeats } from '../../src/store/owner-beats.js'
import { standBy } from '../../src/store/stand-by.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import {
  closing,
  contentsOf,
  doWork,
  log,
  newDirectory,
  type Store,
  startOn,
  work,
} from './journaled-fixtures.js'

/** Between two steps of a test's time, shorter than anything that is waited for. */
const STEP_MS = 50
const PARTITION = 0
/** More than a few, every other of which is late. */
const LATE_LOOKS = 6
/** What is read and applied meanwhile takes time of the machine's own. */
const TURNS_MAX = 1_000

interface Owner {
  readonly store: Store
  readonly beats: OwnerBeats
  /** As a process does that is killed. */
  die(): void
}

/** Another machine's, by the same clock. */
async function ownerOf(engine: MemoryEngine, timers: VirtualTimers): Promise<Owner> {
  const journal = engine.connect()
  const store = await startOn(journal)
  const beats = createOwnerBeats(journal, timers)
  const { owner, readings } = store.writer
  beats.begin(owner.epoch, () => readings.stored)
  return { store, beats, die: () => void journal.close() }
}

/** @param commits that it has stored */
async function ownerAtWork(commits: number) {
  const timers = new VirtualTimers(START_MS)
  const engine = createMemoryEngine()
  const owner = await ownerOf(engine, timers)
  await doWork(owner.store, 0, commits)
  return { timers, engine, owner }
}

function emptyStore(): Environment {
  const environment = openEnvironment(newDirectory())
  closing(() => environment.root.close())
  return environment
}

interface Following {
  readonly environment: Environment
  readonly progress: () => FollowProgress | null
  /** Of the owner that is gone; null while it follows. */
  readonly overtakes: () => number | null
  readonly failure: () => unknown
}

function follow(
  journal: Pick<Journal, 'look' | 'read' | 'trim'>,
  timers: VirtualTimers,
  environment = emptyStore(),
): Following {
  let progress: FollowProgress | null = null
  let overtakes: number | null = null
  let failure: unknown = null
  const followed = (next: FollowProgress) => {
    progress = next
  }
  followUntilOwnerIsGone({ environment, journal, timers, log, followed }).then(
    (epoch) => {
      overtakes = epoch
    },
    (error: unknown) => {
      failure = error
    },
  )
  return {
    environment,
    progress: () => progress,
    overtakes: () => overtakes,
    failure: () => failure,
  }
}

/** One that has begun to have what its owner has. */
async function followed(
  journal: Pick<Journal, 'look' | 'read' | 'trim'>,
  timers: VirtualTimers,
): Promise<Following> {
  const following = follow(journal, timers)
  await untilSo(timers, () => (following.progress()?.applied ?? 0) > 0)
  return following
}

/** Lets time pass in small steps, so that each of two who go by it has its turn. */
async function passes(timers: VirtualTimers, byMs: number): Promise<void> {
  for (let left = byMs; left > 0; left -= STEP_MS) await timers.pass(Math.min(STEP_MS, left))
}

/** Lets time pass until it is so: what is written to a disk takes time of its own. */
async function untilSo(timers: VirtualTimers, isSo: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      await timers.pass(STEP_MS)
      return isSo()
    })
    .toBe(true)
}

describe('a store that follows the owner of its journal', () => {
  test('has what the owner has, and waits for as long as that lives', async () => {
    const { timers, engine, owner } = await ownerAtWork(5)
    const following = await followed(engine.connect(), timers)
    await doWork(owner.store, 5, 5)
    const { stored } = owner.store.writer.readings
    await untilSo(timers, () => following.progress()?.applied === stored)
    expect(contentsOf(following.environment)).toEqual(contentsOf(owner.store.environment))
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    expect(following.progress()).toEqual({
      epoch: 1,
      stored,
      applied: stored,
      restoring: null,
      hindrance: null,
    })
  })

  test('takes over once the owner is silent for long enough, and no sooner', async () => {
    const { timers, engine, owner } = await ownerAtWork(1)
    const following = await followed(engine.connect(), timers)
    owner.die()
    await passes(timers, OWNER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes over at once from an owner that says that it leaves', async () => {
    const { timers, engine, owner } = await ownerAtWork(1)
    const following = await followed(engine.connect(), timers)
    const leaving = owner.beats.leave()
    const saidAtMs = timers.now()
    await untilSo(timers, () => following.overtakes() === 1)
    await leaving
    expect(timers.now() - saidAtMs).toBeLessThan(OWNER_SILENT_MS)
  })

  test('counts the silence anew while the journal does not answer', async () => {
    const { timers, engine, owner } = await ownerAtWork(1)
    const inner = engine.connect()
    let isAway = false
    const journal: Pick<Journal, 'look' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      look: (partition) =>
        isAway ? Promise.reject(new JournalUnavailable('away')) : inner.look(partition),
    }
    const following = await followed(journal, timers)
    isAway = true
    await passes(timers, 3 * OWNER_SILENT_MS)
    owner.die()
    await passes(timers, 3 * OWNER_SILENT_MS)
    isAway = false
    await passes(timers, OWNER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('counts the silence anew after an answer that the journal was long in giving', async () => {
    const { timers, engine, owner } = await ownerAtWork(1)
    const inner = engine.connect()
    let isSlow = false
    let answeredAtMs: number | null = null
    const journal: Pick<Journal, 'look' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      async look(partition) {
        const wasSlow = isSlow
        isSlow = false
        if (wasSlow) {
          await new Promise<void>((resolve) =>
            timers.at(timers.now() + 2 * OWNER_SILENT_MS, resolve),
          )
          answeredAtMs = timers.now()
        }
        return inner.look(partition)
      },
    }
    const following = await followed(journal, timers)
    owner.die()
    isSlow = true
    await untilSo(timers, () => answeredAtMs !== null)
    await passes(timers, OWNER_SILENT_MS - 500)
    expect(following.overtakes()).toBeNull()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes for no silence that what is written waits, and with it what the owner says', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const inner = engine.connect()
    const owner = await startOn(inner)
    let held: (() => void)[] | null = null
    const written = () => new Promise<void>((go) => (held === null ? go() : held.push(go)))
    const beats = createOwnerBeats(
      {
        async beat(...asked) {
          await written()
          await inner.beat(...asked)
        },
      },
      timers,
    )
    beats.begin(owner.writer.owner.epoch, () => owner.writer.readings.stored)
    await doWork(owner, 0, 1)
    let probes = 0
    const following = await followed(
      {
        look: inner.look,
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
    await passes(timers, 2 * OWNER_SILENT_MS)
    expect(probes).toBe(1)
    expect(following.overtakes()).toBeNull()
    const waiting: readonly (() => void)[] = held
    held = null
    for (const go of waiting) go()
    await passes(timers, OWNER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    // It is silent by itself now.
    await beats.handOver()
    await untilSo(timers, () => following.overtakes() === 1)
  })

  test('takes an answer that came late for no silence', async () => {
    const { timers, engine } = await ownerAtWork(1)
    const inner = engine.connect()
    let looks = 0
    const journal: Pick<Journal, 'look' | 'read' | 'trim'> = {
      read: inner.read,
      trim: inner.trim,
      // The server looks at once, and a network or a busy machine keeps the answer back.
      async look(partition) {
        const head = await inner.look(partition)
        if (++looks % 2 === 0) {
          await new Promise<void>((resolve) =>
            timers.at(timers.now() + 2 * OWNER_SILENT_MS, resolve),
          )
        }
        return head
      },
    }
    const following = follow(journal, timers)
    for (let turn = 0; looks <= LATE_LOOKS && turn < TURNS_MAX; turn++) {
      await passes(timers, OWNER_SILENT_MS)
      expect(following.overtakes()).toBeNull()
    }
    expect(looks).toBeGreaterThan(LATE_LOOKS)
  })

  test('hears no life of an owner in the beats of one before it', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const zombie = await ownerOf(engine, timers)
    await doWork(zombie.store, 0, 1)
    // Takes the journal and dies before it says anything; the one before is at rest, and never heard.
    await engine.connect().take(PARTITION, 'dies', 'at once')
    const following = follow(engine.connect(), timers)
    await passes(timers, 2 * OWNER_SILENT_MS)
    await untilSo(timers, () => following.overtakes() === 2)
  })

  test('takes no journal without entries with an empty store', async () => {
    const timers = new VirtualTimers(START_MS)
    const engine = createMemoryEngine()
    const following = follow(engine.connect(), timers)
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    expect(following.progress()).toEqual({
      epoch: 0,
      stored: 0,
      applied: 0,
      restoring: null,
      hindrance: null,
    })
    // The first owner dies before its first entry: there is nothing yet that could be gone on with.
    const first = await ownerOf(engine, timers)
    first.die()
    await passes(timers, 10 * OWNER_SILENT_MS)
    expect(following.overtakes()).toBeNull()
    const owner = await ownerOf(engine, timers)
    await doWork(owner.store, 0, 1)
    await untilSo(timers, () => (following.progress()?.applied ?? 0) > 0)
    owner.die()
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
    const owner = await ownerOf(engine, timers)
    const following = follow(engine.connect(), timers, environment)
    await untilSo(timers, () => following.progress() !== null)
    await doWork(owner.store, 2, 2)
    await untilSo(timers, () => following.failure() !== null)
    expect(String(following.failure())).toMatch(/of two services/)
    expect(contentsOf(environment)).toEqual(before)
  })

  test('ends with what to do where its journal was set back', async () => {
    const { timers, engine } = await ownerAtWork(3)
    const inner = engine.connect()
    let other: Journal | null = null
    const journal: Pick<Journal, 'look' | 'read' | 'trim'> = {
      look: (partition) => (other ?? inner).look(partition),
      read: (...asked) => (other ?? inner).read(...asked),
      trim: (...asked) => (other ?? inner).trim(...asked),
    }
    const following = await followed(journal, timers)
    const set = createMemoryEngine()
    const next = await ownerOf(set, timers)
    await doWork(next.store, 10, 9)
    other = set.connect()
    await untilSo(timers, () => following.failure() !== null)
    expect(String(following.failure())).toMatch(/of another store|set back/)
  })
})

describe('a standby', () => {
  function standsBy(
    journal: Journal,
    timers: VirtualTimers,
    hindrance?: () => Promise<string | null>,
  ) {
    const environment = emptyStore()
    const beats = createOwnerBeats(journal, timers)
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
    const beats = createOwnerBeats(ofOwner, timers)
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
