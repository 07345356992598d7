import { cpSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { type Journal, SnapshotGone, type Snapshots } from '../../src/journal/journal.js'
import { createLeaderHeartbeats } from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine, type MemoryEngine } from '../../src/journal/memory-journal.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { DamagedRecord } from '../../src/store/checked-space.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import {
  isHalfRestored,
  openBesideService,
  openEnvironment,
  requireOpenedSchema,
} from '../../src/store/environment.js'
import { type FollowProgress, followUntilLeaderIsGone } from '../../src/store/follow-leader.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import { PARTITION } from '../../src/store/journaled-store.js'
import { KEY_SPACES } from '../../src/store/key-spaces.js'
import { putOf } from '../../src/store/rows.js'
import { makeSnapshot } from '../../src/store/snapshots/make-snapshot.js'
import { tidy } from '../../src/store/snapshots/tidy.js'
import {
  contentsOf,
  doWork,
  freeze,
  log,
  newDirectory,
  type Store,
  startOn,
} from './journaled-fixtures.js'

/** So that a few hundred rows are many chunks. */
const PACE = { chunkBytes: 2_000, bytesPerSecondMax: 1_000_000_000, restTimes: 1 }
const MARGIN = 3

const timers = systemTimers()

function snapshotsOf(journal: Journal): Snapshots {
  if (journal.snapshots === undefined) throw new Error('no snapshots')
  return journal.snapshots
}

function makes(store: Store, journal: Journal) {
  const snapshots = snapshotsOf(journal)
  const { environment } = store
  return makeSnapshot({ environment, snapshots, partition: PARTITION, timers, pace: PACE })
}

/** As the owner does it: makes a snapshot of its store, and trims. */
async function snapshot(store: Store, journal: Journal): Promise<void> {
  expect(await makes(store, journal)).toMatchObject({ kind: 'made' })
  const { epoch } = store.writer.leadership
  const snapshots = snapshotsOf(journal)
  await tidy({ journal, snapshots, partition: PARTITION, epoch, timers, marginEntries: MARGIN })
}

/** A journal whose first entries are trimmed, and the store that wrote it. */
async function trimmed(engine: MemoryEngine, directory = newDirectory()) {
  const journal = engine.connect()
  const store = await startOn(journal, { directory })
  await doWork(store, 0, 40)
  await snapshot(store, journal)
  await doWork(store, 40, 10)
  return { journal, store, directory }
}

/** Its reads of chunks answer as `read` says. */
function reading(journal: Journal, read: Snapshots['read']): Journal {
  return { ...journal, snapshots: { ...snapshotsOf(journal), read } }
}

/** What there is of a chunk, which fails from that one on. */
function failingAt(journal: Journal, failing: number): Journal {
  return reading(journal, (partition, id, index) => {
    // The last one is read first.
    if (index >= failing && index < failing + 3) throw new Error('killed')
    return snapshotsOf(journal).read(partition, id, index)
  })
}

describe('a store whose journal was trimmed', () => {
  test('is the same again after it was lost, by the snapshot and the entries after it', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    const head = await journal.readHead(PARTITION)
    const { newest } = await snapshotsOf(journal).readHead(PARTITION)
    expect(newest?.chunks).toBeGreaterThan(5)
    expect(newest?.seq).toBeLessThan(head.seq)
    expect(head.first).toBe(Number(newest?.seq) + 1 - MARGIN)
    const before = contentsOf(store.environment)
    expect(before.userEvents).not.toEqual([])
    await store.close()
    const again = await startOn(engine.connect())
    expect(contentsOf(again.environment)).toEqual(before)
    // And it goes on where it was, and is whoever follows next.
    await doWork(again, 50, 10)
    await snapshot(again, journal)
    const third = await startOn(engine.connect())
    expect(contentsOf(third.environment)).toEqual(contentsOf(again.environment))
  })

  test('has no record that was removed since, where it is an earlier copy', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const copy = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await store.commit((batch) => batch.putFreeze(freeze('removed since')))
    await doWork(store, 0, 5)
    await store.close()
    cpSync(directory, copy, { recursive: true })
    const later = await startOn(engine.connect(), { directory })
    await later.commit((batch) =>
      batch.deleteFreeze(freeze('removed since').userId, 'removed since'),
    )
    await doWork(later, 5, 20)
    await snapshot(later, engine.connect())
    const { epoch } = await engine.connect().readHead(PARTITION)
    const behind = await startOn(engine.connect(), { directory: copy, overtakes: epoch })
    expect(contentsOf(behind.environment)).toEqual(contentsOf(later.environment))
  })

  test('comes back from nothing though it was there before its journal', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const old = openEnvironment(directory)
    const rules = putOf('addressRules', freeze('x').userId, packedRecord([]))
    await applyRows(old, [
      rules,
      putOf('retained', [freeze('x').userId, 'events'], packedRecord(7)),
    ])
    await old.root.close()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 3)
    await expect(startOn(engine.connect())).rejects.toThrow(/restore a copy of that store/)
    await snapshot(store, engine.connect())
    await doWork(store, 3, 3)
    const before = contentsOf(store.environment)
    expect(before.retained).toHaveLength(1)
    const again = await startOn(engine.connect())
    expect(contentsOf(again.environment)).toEqual(before)
  })

  test('is not put in place of the records of another service', async () => {
    const engine = createMemoryEngine()
    await trimmed(engine)
    const directory = newDirectory()
    const other = openEnvironment(directory)
    await applyRows(other, [putOf('addressRules', freeze('x').userId, packedRecord([]))])
    const before = contentsOf(other)
    await other.root.close()
    await expect(startOn(engine.connect(), { directory })).rejects.toThrow(/to two services/)
    const ofOther = newDirectory()
    const journaled = await startOn(createMemoryEngine().connect(), { directory: ofOther })
    await doWork(journaled, 0, 2)
    await journaled.close()
    await expect(startOn(engine.connect(), { directory: ofOther })).rejects.toThrow(
      /to another store/,
    )
    const still = openEnvironment(directory)
    onTestFinished(() => still.root.close())
    expect(contentsOf(still)).toEqual(before)
  })

  test('is half of one while it is being restored, which nobody takes for whole', async () => {
    const engine = createMemoryEngine()
    const { store } = await trimmed(engine)
    const directory = newDirectory()
    for (const failing of [0, 1, 4]) {
      const dying = startOn(failingAt(engine.connect(), failing), { directory })
      await expect(dying).rejects.toThrow('killed')
      expect(() => openEnvironment(directory)).toThrow(/is not finished/)
      expect(() => openBesideService(directory)).toThrow(/is not finished/)
      await expect(requireOpenedSchema(directory)).rejects.toThrow(/is not finished/)
      await requireOpenedSchema(directory, 'opened')
      const half = openEnvironment(directory, undefined, undefined, 'opened')
      onTestFinished(() => half.root.close())
      expect(isHalfRestored(half)).toBe(true)
      // So that a start without the journal refuses it.
      expect(journalPositionOf(half)).toMatchObject({ seq: 0 })
    }
    const again = await startOn(engine.connect(), { directory })
    expect(isHalfRestored(again.environment)).toBe(false)
    expect(contentsOf(again.environment)).toEqual(contentsOf(store.environment))
  })

  test('is not restored from a chunk that is damaged, missing, or another', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    const { read, readHead } = snapshotsOf(journal)
    const older = await read(PARTITION, (await readHead(PARTITION)).newest?.id ?? '', 2)
    await doWork(store, 50, 1)
    await snapshot(store, journal)
    // Of another making, and as sound as the rest.
    const mixed = reading(journal, async (partition, id, index) =>
      index === 2 ? older : read(partition, id, index),
    )
    await expect(startOn(mixed)).rejects.toThrow(/chunk 2 .* does not follow the one before it/)
    const damaged = reading(journal, async (partition, id, index) => {
      const body = await read(partition, id, index)
      if (index === 2) body[100] = (body[100] ?? 0) ^ 1
      return body
    })
    const said = /^chunk 2 of the journal's snapshot of entry \d+ is damaged$/
    await expect(startOn(damaged)).rejects.toThrow(said)
    const missing = reading(journal, async (partition, id, index) => {
      if (index === 2) throw new SnapshotGone(id, index)
      return read(partition, id, index)
    })
    await expect(startOn(missing)).rejects.toThrow(/no chunk 2 of a snapshot/)
    const swapped = reading(journal, (partition, id, index) =>
      read(partition, id, index === 2 ? 3 : index),
    )
    await expect(startOn(swapped)).rejects.toThrow(/chunk 2 .* is chunk 3 instead/)
  })
})

describe('a standby of a journal that was trimmed', () => {
  /** It follows until its owner leaves. */
  async function follows(leader: Store, its: Journal, others: Journal): Promise<FollowProgress[]> {
    const environment = openEnvironment(newDirectory())
    onTestFinished(() => environment.root.close())
    const progress: FollowProgress[] = []
    const beats = createLeaderHeartbeats(its, PARTITION, timers)
    beats.begin(leader.writer.leadership.epoch, () => leader.writer.readings.stored)
    const following = followUntilLeaderIsGone({
      ...{ environment, journal: others, timers, log },
      followed: (next) => progress.push(next),
    })
    await expect
      .poll(() => progress.at(-1), { timeout: 30_000 })
      .toMatchObject({ applied: leader.writer.readings.stored, restoring: null })
    await doWork(leader, 70, 3)
    await expect
      .poll(() => progress.at(-1)?.applied, { timeout: 30_000 })
      .toBe(leader.writer.readings.stored)
    await beats.leave()
    expect(await following).toBe(leader.writer.leadership.epoch)
    expect(contentsOf(environment)).toEqual(contentsOf(leader.environment))
    return progress
  }

  test('comes up from the snapshot, and follows on', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    const progress = await follows(store, journal, engine.connect())
    expect(progress.some(({ restoring }) => restoring !== null)).toBe(true)
  })

  test('goes on with a newer snapshot, where that takes the place of the one it reads', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    let isReplaced = false
    const replaced = reading(engine.connect(), async (partition, id, index) => {
      if (index === 3 && !isReplaced) {
        isReplaced = true
        await snapshot(store, journal)
      }
      return snapshotsOf(journal).read(partition, id, index)
    })
    await follows(store, journal, replaced)
    expect(isReplaced).toBe(true)
  })

  test('is restored where the entries that it lacks are trimmed while it follows', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const store = await startOn(journal)
    await doWork(store, 0, 20)
    const others = engine.connect()
    let reads = 0
    const late: Journal = {
      ...others,
      async read(...asked) {
        // After the look at what there is.
        if (++reads === 2) await snapshot(store, journal)
        return others.read(...asked)
      },
    }
    const progress = await follows(store, journal, late)
    expect(progress.some(({ restoring }) => restoring !== null)).toBe(true)
  })
})

describe('the snapshot of a store', () => {
  test('is of one moment, whatever is committed while it is made', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const store = await startOn(journal)
    await doWork(store, 0, 30)
    const before = contentsOf(store.environment)
    const { seq } = await journal.readHead(PARTITION)
    const { put } = snapshotsOf(journal)
    let index = 100
    const busy: Journal = {
      ...journal,
      snapshots: {
        ...snapshotsOf(journal),
        async put(at, body) {
          await doWork(store, index++, 1)
          return put(at, body)
        },
      },
    }
    expect(await makes(store, busy)).toMatchObject({ kind: 'made', seq })
    expect(index).toBeGreaterThan(103)
    // A journal that ends where the snapshot does.
    const ending: Journal = {
      ...journal,
      acquire: async (...taken) => ({ ...(await journal.acquire(...taken)), seq }),
    }
    const restored = await startOn(ending)
    expect(contentsOf(restored.environment)).toEqual(before)
  })

  test('of an owner that is none any more is refused, and that of the next stays', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    const next = await startOn(engine.connect())
    await doWork(next, 60, 2)
    await snapshot(next, engine.connect())
    const { newest } = await snapshotsOf(journal).readHead(PARTITION)
    expect(await makes(store, journal)).toEqual({ kind: 'fenced', epoch: 2 })
    expect((await snapshotsOf(journal).readHead(PARTITION)).newest).toEqual(newest)
  })

  test('is not made of a damaged record, and nothing is trimmed', async () => {
    const engine = createMemoryEngine()
    const { journal, store } = await trimmed(engine)
    const before = await snapshotsOf(journal).readHead(PARTITION)
    const raw = store.environment.root.openDB<Buffer, string>({
      name: KEY_SPACES.addressRules,
      encoding: 'binary',
    })
    const bytes = Buffer.from(raw.getBinary(freeze('x').userId) ?? [])
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    await raw.put(freeze('x').userId, bytes)
    await expect(makes(store, journal)).rejects.toThrow(DamagedRecord)
    expect((await snapshotsOf(journal).readHead(PARTITION)).newest).toEqual(before.newest)
  })

  test('has nothing that is made again, and what it was told to stop is not there', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const store = await startOn(journal)
    await doWork(store, 0, 2)
    const { environment } = store
    const snapshots = snapshotsOf(journal)
    const segment = putOf('transactionSegments', ['user', 'part', 'tx'], packedRecord('a segment'))
    await applyRows(environment, [segment])
    const stopping = AbortSignal.abort()
    const options = { environment, snapshots, partition: PARTITION, timers, pace: PACE }
    expect(await makeSnapshot({ ...options, stopping })).toEqual({ kind: 'stopped' })
    expect((await snapshots.readHead(PARTITION)).newest).toBeNull()
    await snapshot(store, journal)
    const { newest } = await snapshots.readHead(PARTITION)
    for (let index = 0; index < Number(newest?.chunks); index++) {
      const body = Buffer.from(await snapshots.read(PARTITION, newest?.id ?? '', index))
      expect(body.includes('a segment')).toBe(false)
    }
    const again = await startOn(engine.connect())
    const { transactionSegments, ...others } = contentsOf(environment)
    expect(transactionSegments).toHaveLength(1)
    expect(contentsOf(again.environment)).toEqual({ ...others, transactionSegments: [] })
  })
})
