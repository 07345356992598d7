import { describe, expect, onTestFinished, test } from 'vitest'
import type { Entry, Journal } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { openEnvironment } from '../../src/store/environment.js'
import { followJournal, NO_POSITION } from '../../src/store/follow-journal.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import { contentsOf, doWork, newDirectory, startOn, work } from './journaled-fixtures.js'

const ALL_BYTES = 1e9

/** A journal of a service that worked, and its entries. */
async function written(count: number) {
  const engine = createMemoryEngine()
  const journal = engine.connect()
  const store = await startOn(journal)
  await doWork(store, 0, count)
  return { journal, store, entries: await journal.read(0, 0, ALL_BYTES) }
}

/** The same start, and then what another owner wrote who did not know the rest. */
async function anotherBranch(entries: readonly Entry[], kept: number): Promise<readonly Entry[]> {
  const engine = createMemoryEngine()
  const journal = engine.connect()
  const { epoch } = await journal.acquire(0, 'restored', 'of a backup')
  for (const { seq, body } of entries.slice(0, kept)) {
    await journal.append({ partition: 0, epoch, seq }, body)
  }
  const other = await startOn(journal)
  for (let index = 0; index < entries.length; index++) {
    await other.commit((batch) => work(batch, 700 + index))
  }
  return journal.read(0, 0, ALL_BYTES)
}

/** A follower of an engine that hands out these. */
async function follow(journal: Journal, entries: readonly Entry[], end: number) {
  const environment = openEnvironment(newDirectory(), undefined, undefined, 'opened')
  onTestFinished(() => environment.root.close())
  const engine = {
    trim: journal.trim,
    read: async (_partition: number, after: number) => entries.filter(({ seq }) => seq > after),
  }
  const following = followJournal(environment, engine, 0, end, NO_POSITION)
  const failed = await following.then(
    () => null,
    (error: Error) => error.message,
  )
  return { environment, failed }
}

const COUNT = 6
const AT = 3

const WRONG: Readonly<
  Record<string, (entries: readonly Entry[], branch: readonly Entry[]) => readonly Entry[]>
> = {
  'one that another owner wrote in its place': (entries, branch) =>
    entries.map((entry, index) => (index === AT ? (branch[index] ?? entry) : entry)),
  'after it what another owner wrote behind another entry': (entries, branch) => [
    ...entries.slice(0, AT + 1),
    ...branch.slice(AT + 1),
  ],
  'the one before it once more': (entries) =>
    entries.map((entry, index) => {
      const before = entries[index - 1]
      return index === AT && before !== undefined ? { ...before, seq: entry.seq } : entry
    }),
  'the one after it': (entries) =>
    entries.map((entry, index) => {
      const after = entries[index + 1]
      return index === AT && after !== undefined ? { ...after, seq: entry.seq } : entry
    }),
  'none, and the next one is counted in its place': (entries) =>
    entries
      .filter((_, index) => index !== AT)
      .map((entry, index) => (index >= AT ? { ...entry, seq: entry.seq - 1 } : entry)),
  'none, and the next one in its own place': (entries) => entries.filter((_, i) => i !== AT),
  'itself, counted in the next place': (entries) =>
    entries.map((entry, index) => (index >= AT ? { ...entry, seq: entry.seq + 1 } : entry)),
}

describe('a follower of a journal', () => {
  test('has what its owner has, where each entry names the one before', async () => {
    const { journal, store, entries } = await written(COUNT)
    const { environment, failed } = await follow(journal, entries, entries.length)
    expect(failed).toBeNull()
    expect(contentsOf(environment)).toEqual(contentsOf(store.environment))
  })

  test.each(Object.entries(WRONG))(
    'applies nothing that does not follow: where it is given %s',
    async (_, wrong) => {
      const { journal, entries } = await written(COUNT)
      const branch = await anotherBranch(entries, AT)
      const given = wrong(entries, branch)
      const { environment, failed } = await follow(journal, given, entries.length)
      expect(failed).toMatch(/journal/)
      expect(journalPositionOf(environment)?.seq ?? 0).toBeLessThanOrEqual(AT + 1)
      const before = await follow(journal, entries, journalPositionOf(environment)?.seq ?? 0)
      expect(contentsOf(environment)).toEqual(contentsOf(before.environment))
    },
  )
})
