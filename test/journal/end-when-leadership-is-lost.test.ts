import { expect, test } from 'vitest'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { endWhenLeadershipIsLost } from '../../src/service/end-when-leadership-is-lost.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { drawClaim } from './races.js'

const CELL = { number: 0 }

/** An owner in its first epoch, and another node that may take the journal from it. */
async function leader() {
  const timers = new VirtualTimers(1_000)
  const engine = createMemoryEngine()
  const journal = engine.connect()
  const one = { fenced: false, looks: 0, isAway: false, ends: [] as Error[] }
  const { epoch } = await journal.acquire(CELL.number, 'one', drawClaim())
  const stop = endWhenLeadershipIsLost({
    journal: {
      readHead(partition) {
        one.looks++
        return one.isAway ? Promise.reject(new Error('away')) : journal.readHead(partition)
      },
    },
    leadership: { epoch, cell: CELL },
    reach: () => one,
    onLost: (error) => void one.ends.push(error),
    timers,
  })
  const acquiredElsewhere = () => engine.connect().acquire(CELL.number, 'another', drawClaim())
  return { one, timers, stop, acquiredElsewhere }
}

test('an owner that stood still looks who owns the journal, and ends where another does', async () => {
  const { one, timers, acquiredElsewhere } = await leader()
  await timers.pass(60_000)
  expect(one.looks).toBe(0)
  timers.standStill(12_000)
  await timers.pass(1_000)
  expect([one.looks, one.ends]).toEqual([1, []])
  await acquiredElsewhere()
  timers.standStill(12_000)
  await timers.pass(1_000)
  expect(one.ends.map(String)).toEqual([
    'Error: another node leads the journal, with epoch 2; this one had epoch 1',
  ])
  await timers.pass(60_000)
  expect([one.looks, one.ends.length]).toEqual([2, 1])
})

test('an owner that the identity provider serves no more ends only where the journal says so', async () => {
  const { one, timers, acquiredElsewhere, stop } = await leader()
  one.fenced = true
  await timers.pass(5_000)
  expect(one.looks).toBeGreaterThan(4)
  expect(one.ends).toEqual([])
  one.isAway = true
  await acquiredElsewhere()
  await timers.pass(5_000)
  expect(one.ends).toEqual([])
  one.isAway = false
  await timers.pass(1_000)
  expect(one.ends).toHaveLength(1)
  stop()
})

test('one that has ended asks nobody any more', async () => {
  const { one, timers, stop } = await leader()
  stop()
  one.fenced = true
  timers.standStill(12_000)
  await timers.pass(5_000)
  expect(one.looks).toBe(0)
})
