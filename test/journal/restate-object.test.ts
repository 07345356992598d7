import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { JournalUnavailable } from '../../src/journal/journal.js'
import type { Asking } from '../../src/journal/restate-ingresses.js'
import { createRestateJournal } from '../../src/journal/restate-journal.js'
import { PIECE_BYTES } from '../../src/journal/restate-state.js'
import { describeJournal } from './conformance.js'
import { drawClaim } from './races.js'
import { createTwin } from './restate-twin.js'
import { describeSnapshots } from './snapshot-conformance.js'

describeJournal('the objects of the journal in Restate', async () => {
  const key = randomBytes(32)
  const { asking } = createTwin(key)
  return { connect: () => createRestateJournal(key, asking), close: () => Promise.resolve() }
})

describeSnapshots('the objects of snapshots in Restate', async () => {
  const key = randomBytes(32)
  const { asking } = createTwin(key)
  return { connect: () => createRestateJournal(key, asking), close: () => Promise.resolve() }
})

describe('a handler that Restate gives up amid its changes', () => {
  const text = (value: string) => Buffer.from(value)

  function opened() {
    const key = randomBytes(32)
    const twin = createTwin(key)
    return { twin, journal: createRestateJournal(key, twin.asking) }
  }

  test('has stored nothing, whatever it wrote of an entry', async () => {
    const { twin, journal } = opened()
    const { epoch } = await journal.acquire(0, 'one', drawClaim())
    const body = randomBytes(3 * PIECE_BYTES + 1)
    const at = { partition: 0, epoch, seq: 1 }
    for (let after = 0; after < 5; after++) {
      twin.givesUpAfter = after
      await expect(journal.append(at, body)).rejects.toThrow(JournalUnavailable)
      twin.givesUpAfter = null
      expect(await journal.read(0, 0, 1_000_000)).toEqual([])
      expect(await journal.readHead(0)).toMatchObject({ epoch, seq: 0 })
    }
    // Another takes over, with something shorter in its place: nothing of the longer is in it.
    const next = await journal.acquire(0, 'two', drawClaim())
    await journal.append({ ...at, epoch: next.epoch }, text('shorter'))
    const [entry] = await journal.read(0, 0, 1_000_000)
    expect(Buffer.from(entry?.body ?? []).toString()).toBe('shorter')
  })

  test('has taken nothing, or all of it', async () => {
    const { twin, journal } = opened()
    const { epoch } = await journal.acquire(0, 'one', drawClaim())
    for (let after = 0; after < 3; after++) {
      twin.givesUpAfter = after
      await expect(journal.acquire(0, 'two', drawClaim())).rejects.toThrow(JournalUnavailable)
      twin.givesUpAfter = null
      expect(await journal.readHead(0)).toMatchObject({ epoch, owner: { node: 'one' } })
    }
    const at = { partition: 0, epoch, seq: 1 }
    expect(await journal.append(at, text('still the owner'))).toEqual({ kind: 'stored' })
  })

  test('has given an epoch to nobody, where another comes before its acquisition is asked for again', async () => {
    const { twin, journal } = opened()
    const { epoch } = await journal.acquire(0, 'one', drawClaim())
    const claim = drawClaim()
    for (let after = 0; after < 3; after++) {
      twin.givesUpAfter = after
      await expect(journal.acquire(0, 'two', claim)).rejects.toThrow(JournalUnavailable)
      twin.givesUpAfter = null
    }
    const third = await journal.acquire(0, 'three', drawClaim())
    expect(third.epoch).toBe(epoch + 1)
    expect((await journal.acquire(0, 'two', claim)).epoch).toBe(epoch + 2)
    expect((await journal.acquire(0, 'two', claim)).epoch).toBe(epoch + 2)
  })

  test('trims nothing that the head still counts', async () => {
    const { twin, journal } = opened()
    const { epoch } = await journal.acquire(0, 'one', drawClaim())
    for (let seq = 1; seq <= 4; seq++) {
      await journal.append({ partition: 0, epoch, seq }, text(`entry ${seq}`))
    }
    for (let after = 0; after < 3; after++) {
      twin.givesUpAfter = after
      await expect(journal.trim(0, 4)).rejects.toThrow(JournalUnavailable)
      twin.givesUpAfter = null
      const { first } = await journal.readHead(0)
      const left = await journal.read(0, first - 1, 1_000)
      expect(left.map(({ seq }) => seq)).toEqual(after === 0 ? [1, 2, 3, 4] : [4])
    }
    await journal.trim(0, 4)
    const entries = [...twin.valuesOf('0').keys()].filter((name) => name.startsWith('entry/'))
    expect(entries).toEqual(['entry/4'])
  })
})

test('more entries than one handler trims are trimmed', async () => {
  const key = randomBytes(32)
  const twin = createTwin(key)
  const journal = createRestateJournal(key, twin.asking)
  const { epoch } = await journal.acquire(0, 'one', drawClaim())
  for (let seq = 1; seq <= 150; seq++) {
    await journal.append({ partition: 0, epoch, seq }, Buffer.alloc(1, seq))
  }
  await journal.trim(0, 150)
  expect(await journal.readHead(0)).toMatchObject({ first: 150, seq: 150 })
  expect((await journal.read(0, 149, 1_000)).map(({ seq }) => seq)).toEqual([150])
})

test('whoever has another key is refused, and believed nothing', async () => {
  const [key, other] = [randomBytes(32), randomBytes(32)]
  const twin = createTwin(key)
  const journal = createRestateJournal(key, twin.asking)
  const { epoch } = await journal.acquire(0, 'one', drawClaim())
  const before = twin.changes
  const stranger = createRestateJournal(other, twin.asking)
  const at = { partition: 0, epoch, seq: 1 }
  await expect(stranger.append(at, Buffer.from('x'))).rejects.toThrow('another key')
  await expect(stranger.read(0, 0, 1_000)).rejects.toThrow('another key')
  expect(twin.changes).toBe(before)
  // It answers whatever it is asked; a request to one partition is none to another.
  const impostor: Asking = {
    ...twin.asking,
    ask: (question, use) => twin.asking.ask({ ...question, key: '1' }, use),
  }
  const misled = createRestateJournal(key, impostor)
  await expect(misled.acquire(0, 'one', drawClaim())).rejects.toThrow('another key')
  const lies: Asking = { ...twin.asking, ask: async (_, use) => use(randomBytes(200)) }
  await expect(createRestateJournal(key, lies).readHead(0)).rejects.toThrow(JournalUnavailable)
})
