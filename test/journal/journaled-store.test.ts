import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { JournalFenced } from '../../src/journal/append-until-known.js'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { leaveJournal } from '../../src/store/journal-position.js'
import { JournalHasSuccessor } from '../../src/store/journaled-store.js'
import { localCommits } from '../../src/store/local-commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { USER_ID } from '../actors/wallet-fixtures.js'
import { contentsOf, doWork, freeze, newDirectory, startOn, work } from './journaled-fixtures.js'

describe('a store with a journal', () => {
  test('is the same again after it was lost', async () => {
    const engine = createMemoryEngine()
    const store = await startOn(engine.connect())
    await doWork(store, 0, 40)
    const before = contentsOf(store.environment)
    await store.close()
    const again = await startOn(engine.connect())
    expect(contentsOf(again.environment)).toEqual(before)
    expect(JSON.stringify(Object.keys(before))).toContain('userEvents')
    expect(before.userEvents).not.toEqual([])
    // And it goes on where it was, in the next place of each log.
    await doWork(again, 40, 10)
    const third = await startOn(engine.connect())
    expect(contentsOf(third.environment)).toEqual(contentsOf(again.environment))
  })

  test('that was set back to an earlier copy is at the end again', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const copy = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 10)
    await store.close()
    cpSync(directory, copy, { recursive: true })
    const later = await startOn(engine.connect(), { directory })
    await doWork(later, 10, 10)
    // Nobody can tell it from one whose machine was thought dead: an operator says which it is.
    await expect(startOn(engine.connect(), { directory: copy })).rejects.toThrow(
      JournalHasSuccessor,
    )
    await doWork(later, 20, 1)
    const { epoch } = await engine.connect().readHead(0)
    const behind = await startOn(engine.connect(), { directory: copy, overtakes: epoch })
    expect(contentsOf(behind.environment)).toEqual(contentsOf(later.environment))
  })

  test('does not take its journal back from a successor that it never heard of', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const first = await startOn(engine.connect(), { directory })
    await doWork(first, 0, 5)
    await first.close()
    const second = await startOn(engine.connect())
    await doWork(second, 5, 5)
    const { epoch } = await engine.connect().readHead(0)
    await expect(startOn(engine.connect(), { directory })).rejects.toThrow(/with epoch 2/)
    const others = startOn(engine.connect(), { directory, overtakes: epoch - 1 })
    await expect(others).rejects.toThrow(JournalHasSuccessor)
    // The one that went on never noticed.
    await doWork(second, 10, 1)
    expect(second.failures).toEqual([])
    const back = await startOn(engine.connect(), { directory, overtakes: epoch })
    expect(contentsOf(back.environment)).toEqual(contentsOf(second.environment))
  })

  test('knows its own acquisition again, of which it did not live to hear', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 3)
    await store.close()
    const journal = engine.connect()
    const dying: Journal = {
      ...journal,
      async acquire(...asked) {
        await journal.acquire(...asked)
        throw new Error('ended while it acquired leadership')
      },
    }
    await expect(startOn(dying, { directory })).rejects.toThrow(/while it acquired leadership/)
    const again = await startOn(journal, { directory })
    await doWork(again, 3, 1)
    expect(await journal.readHead(0)).toMatchObject({ epoch: 3 })
  })

  test('knows it again where it dies once more, before its next one', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 2)
    await store.close()
    const inner = engine.connect()
    for (const isAsked of [true, false, false]) {
      const mortal: Journal = {
        ...inner,
        async acquire(...asked) {
          if (isAsked) await inner.acquire(...asked)
          throw new Error('killed')
        },
      }
      await expect(startOn(mortal, { directory })).rejects.toThrow('killed')
    }
    const again = await startOn(engine.connect(), { directory })
    await doWork(again, 2, 2)
  })

  test('is not taken by two that both saw the same owner gone', async () => {
    const engine = createMemoryEngine(() => turn())
    await doWork(await startOn(engine.connect()), 0, 3)
    const both = await Promise.allSettled([startOn(engine.connect()), startOn(engine.connect())])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('is ended by another that takes its journal, and has nothing that the other has not', async () => {
    const engine = createMemoryEngine()
    const first = await startOn(engine.connect())
    await doWork(first, 0, 5)
    const second = await startOn(engine.connect())
    const before = contentsOf(first.environment)
    let isTold = false
    void first
      .commit((batch) => work(batch, 99))
      .finally(() => {
        isTold = true
      })
    await expect.poll(() => first.failures).toHaveLength(1)
    expect(first.failures[0]).toBeInstanceOf(JournalFenced)
    expect(first.writer.refusal()).toMatchObject({ code: 'WRITES_STOPPED' })
    void first.commit((batch) => work(batch, 100)).catch(() => undefined)
    await doWork(second, 5, 5)
    expect(isTold).toBe(false)
    expect(contentsOf(first.environment)).toEqual(before)
    expect(first.failures).toHaveLength(1)
  })

  test('tells nobody of a commit whose outcome is unknown, keeps new writes out, and stores it once', async () => {
    const engine = createMemoryEngine()
    const inner = engine.connect()
    let answers = true
    let asked = 0
    let nowMs = 0
    const journal: Journal = {
      ...inner,
      async append(at, body) {
        asked++
        const stored = await inner.append(at, body)
        if (!answers) throw new JournalUnavailable('the answer was lost')
        return stored
      },
    }
    const store = await startOn(journal, { elapsed: () => nowMs })
    await doWork(store, 0, 2)
    answers = false
    asked = 0
    let isTold = false
    const committed = store
      .commit((batch) => work(batch, 2))
      .finally(() => {
        isTold = true
      })
    await expect.poll(() => asked).toBeGreaterThan(2)
    expect(isTold).toBe(false)
    expect(store.writer.refusal()).toBeNull()
    nowMs += 2_001
    expect(store.writer.refusal()).toMatchObject({
      code: 'WRITES_STOPPED',
      details: { reason: 'journal' },
    })
    answers = true
    await committed
    expect(store.writer.refusal()).toBeNull()
    expect(store.failures).toEqual([])
    const again = await startOn(engine.connect())
    expect(contentsOf(again.environment)).toEqual(contentsOf(store.environment))
  })

  test('that is lost during a failover has every acknowledged commit', async () => {
    const engine = createMemoryEngine(() => turn())
    const told: number[] = []
    let store = await startOn(engine.connect())
    let index = 0
    for (let leader = 0; leader < 6; leader++) {
      const current = store
      const busy = (async () => {
        while (current.failures.length === 0) {
          const mine = index++
          await Promise.race([
            current
              .commit((batch) => batch.putFreeze(freeze(`told ${mine}`)))
              .then(() => told.push(mine)),
            expect.poll(() => current.failures.length).toBeGreaterThan(0),
          ])
        }
      })()
      while (told.length < (leader + 1) * 3) await turn()
      store = await startOn(engine.connect())
      await busy
    }
    expect(told.length).toBeGreaterThan(15)
    const there = [...store.environment.spaces.freezes.getKeys({})].map((key) => String(key))
    for (const mine of told) expect(there).toContain(`${USER_ID},told ${mine}`)
  })

  test('cuts a long commit into entries, of which all count or none', async () => {
    const engine = createMemoryEngine()
    const inner = engine.connect()
    let left = Number.POSITIVE_INFINITY
    const journal: Journal = {
      ...inner,
      append: (at, body) =>
        left-- > 0 ? inner.append(at, body) : Promise.reject(new Error('ended amid the commit')),
    }
    const store = await startOn(journal, { contentBytesMax: 64 })
    const long = randomBytes(500).toString('hex')
    const put = (name: string) => (batch: WriteBatch) =>
      batch.putFreeze(freeze(name, USER_ID, long))
    await store.commit(put('whole'))
    const before = contentsOf(store.environment)
    left = 3
    void store.commit(put('half')).catch(() => undefined)
    await expect.poll(() => store.failures).toHaveLength(1)
    const again = await startOn(engine.connect(), { contentBytesMax: 64 })
    expect(contentsOf(again.environment)).toEqual(before)
    await again.commit(put('after'))
    const third = await startOn(engine.connect())
    expect(contentsOf(third.environment)).toEqual(contentsOf(again.environment))
    expect(contentsOf(third.environment)).not.toEqual(before)
  })
})

describe('a journal that does not fit', () => {
  /** A store that was there before its journal, and a copy of it from then. */
  async function withBase() {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const environment = openEnvironment(directory)
    const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
    const batch = new WriteBatch()
    work(batch, 1)
    await localCommits(environment, sequence).commit(batch)
    await environment.root.close()
    return { engine, directory }
  }

  test('a store that was there before its journal comes back from a copy, and not from nothing', async () => {
    const { engine, directory } = await withBase()
    const copy = newDirectory()
    const first = await startOn(engine.connect(), { directory })
    await first.close()
    cpSync(directory, copy, { recursive: true })
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 2, 5)
    await expect(startOn(engine.connect())).rejects.toThrow(/restore a copy/)
    const { epoch } = await engine.connect().readHead(0)
    const again = await startOn(engine.connect(), { directory: copy, overtakes: epoch })
    expect(contentsOf(again.environment)).toEqual(contentsOf(store.environment))
  })

  test('a store with records of its own follows no journal that has entries', async () => {
    const { directory } = await withBase()
    const engine = createMemoryEngine()
    await doWork(await startOn(engine.connect()), 0, 3)
    await expect(startOn(engine.connect(), { directory })).rejects.toThrow(
      /that this journal lacks/,
    )
  })

  test('a store follows no journal of another', async () => {
    const directory = newDirectory()
    const own = await startOn(createMemoryEngine().connect(), { directory })
    await doWork(own, 0, 1)
    await own.close()
    const engine = createMemoryEngine()
    const leader = await startOn(engine.connect())
    await doWork(leader, 0, 9)
    await expect(startOn(engine.connect(), { directory })).rejects.toThrow(
      /belongs to another store/,
    )
    // It took nothing over from the one whose journal it is.
    await doWork(leader, 9, 1)
    expect(leader.failures).toEqual([])
  })

  test('a store that was written without its journal does not go on with it', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 3)
    await store.close()
    const environment = openEnvironment(directory)
    expect(await leaveJournal(environment)).toBe(true)
    expect(await leaveJournal(environment)).toBe(false)
    await environment.root.close()
    await expect(startOn(engine.connect(), { directory })).rejects.toThrow(/without its journal/)
    // An empty one begins behind what there is.
    const again = await startOn(createMemoryEngine().connect(), { directory })
    await doWork(again, 3, 1)
  })

  test('a store that is ahead of its journal does not start', async () => {
    const directory = newDirectory()
    const store = await startOn(createMemoryEngine().connect(), { directory })
    await doWork(store, 0, 3)
    await store.close()
    const empty = createMemoryEngine().connect()
    await expect(startOn(empty, { directory })).rejects.toThrow(/rolled back/)
  })

  /** A journal that a backup of its database brought back, with its first `count` entries. */
  async function broughtBack(journal: Journal, count: number) {
    const engine = createMemoryEngine()
    const restored = engine.connect()
    const { epoch } = await restored.acquire(0, 'restored', 'of the backup')
    for (const { seq, body } of (await journal.read(0, 0, 1e9)).slice(0, count)) {
      await restored.append({ partition: 0, epoch, seq }, body)
    }
    return engine
  }

  test('a store does not start with a journal that was set back, however long that is again', async () => {
    const engine = createMemoryEngine()
    const directory = newDirectory()
    const store = await startOn(engine.connect(), { directory })
    await doWork(store, 0, 9)
    await store.close()
    const { seq } = await engine.connect().readHead(0)
    for (const more of [0, 1, 30]) {
      const restored = await broughtBack(engine.connect(), seq - 4)
      // Another went on with it, to before the store's place, to it exactly, and beyond.
      const other = await startOn(restored.connect())
      for (let index = 0; index < more + (more > 0 ? 3 : 0); index++) {
        await other.commit((batch) => work(batch, 500 + index))
      }
      await expect(startOn(restored.connect(), { directory })).rejects.toThrow(/rolled back/)
      await doWork(other, 90, 1)
      expect(other.failures).toEqual([])
    }
    // Whole, it fits.
    await doWork(await startOn(engine.connect(), { directory }), 9, 1)
  })

  test('a store that has all of a journal that was trimmed goes on, where its last entry is there', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const directory = newDirectory()
    const store = await startOn(journal, { directory })
    await doWork(store, 0, 5)
    await store.close()
    const { seq } = await journal.readHead(0)
    await journal.trim(0, seq)
    await doWork(await startOn(journal, { directory }), 5, 1)
  })

  test('a store that is behind what was trimmed does not start', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const store = await startOn(journal)
    await doWork(store, 0, 5)
    await journal.trim(0, 3)
    await expect(startOn(engine.connect())).rejects.toThrow(/newer copy/)
  })

  test('a damaged entry is not applied', async () => {
    const engine = createMemoryEngine()
    const journal = engine.connect()
    const store = await startOn(journal)
    await doWork(store, 0, 1)
    const damaging: Journal = {
      ...journal,
      async read(...asked) {
        const entries = await journal.read(...asked)
        return entries.map((entry) => {
          const body = Uint8Array.from(entry.body)
          const at = body.length - 3
          body[at] = (body[at] ?? 0) ^ 1
          return { ...entry, body }
        })
      },
    }
    await expect(startOn(damaging)).rejects.toThrow(/damaged/)
  })
})
