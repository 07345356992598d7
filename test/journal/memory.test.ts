import { expect, test } from 'vitest'
import { JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { describeJournal } from './conformance.js'
import { drawClaim } from './races.js'
import { describeSnapshots } from './snapshot-conformance.js'

describeJournal('the journal in memory', async () => ({
  ...createMemoryEngine(),
  close: () => Promise.resolve(),
}))

describeJournal('the journal in memory, reordered on the way', async () => ({
  ...createMemoryEngine(
    () => new Promise((resolve) => setTimeout(resolve, Math.random() < 0.5 ? 0 : 1)),
  ),
  close: () => Promise.resolve(),
}))

describeSnapshots('snapshots in memory', async () => ({
  ...createMemoryEngine(),
  close: () => Promise.resolve(),
}))

test('what is lost on the way is thrown and not stored; what arrives late is as if in time', async () => {
  let loses = false
  const engine = createMemoryEngine(async () => {
    if (loses) throw new JournalUnavailable('lost')
  })
  const journal = engine.connect()
  const { epoch } = await journal.acquire(0, 'one', drawClaim())
  loses = true
  const at = { partition: 0, epoch, seq: 1 }
  await expect(journal.append(at, Buffer.from('a'))).rejects.toThrow(JournalUnavailable)
  loses = false
  expect(await journal.read(0, 0, 1_000)).toEqual([])
  expect(await journal.append(at, Buffer.from('a'))).toEqual({ kind: 'stored' })
})

test('a client that was closed asks for nothing more, and the others go on', async () => {
  const engine = createMemoryEngine()
  const [closed, open] = [engine.connect(), engine.connect()]
  await closed.close()
  await expect(closed.acquire(0, 'one', drawClaim())).rejects.toThrow(JournalUnavailable)
  expect((await open.acquire(0, 'two', drawClaim())).epoch).toBe(1)
})
