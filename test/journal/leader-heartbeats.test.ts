import { expect, test } from 'vitest'
import { type Heartbeat, type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createLeaderHeartbeats } from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const PARTITION = 0

async function owned() {
  const timers = new VirtualTimers(START_MS)
  const engine = createMemoryEngine()
  const journal = engine.connect()
  const { epoch } = await journal.acquire(PARTITION, 'owner', 'claim')
  const lastHeartbeat = async (): Promise<Heartbeat | null> =>
    (await engine.connect().readHead(PARTITION)).beat
  return { timers, engine, journal, epoch, lastHeartbeat }
}

test('an owner says twice a second that it lives, and what is stored by then', async () => {
  const { timers, journal, epoch, lastHeartbeat } = await owned()
  let stored = 7
  createLeaderHeartbeats(journal, PARTITION, timers).begin(epoch, () => stored)
  await timers.pass(0)
  expect(await lastHeartbeat()).toEqual({ epoch, stored: 7, state: 'lives', count: 1 })
  stored = 8
  await timers.pass(10_000)
  expect(await lastHeartbeat()).toEqual({ epoch, stored: 8, state: 'lives', count: 21 })
})

test('an owner that leaves says so last, also while it was saying that it lives', async () => {
  const { timers, journal, epoch, lastHeartbeat } = await owned()
  let isSlow = false
  const slow: Pick<Journal, 'heartbeat'> = {
    async heartbeat(...asked) {
      if (isSlow) await new Promise<void>((resolve) => timers.at(timers.now() + 1_000, resolve))
      await journal.heartbeat(...asked)
    },
  }
  const beats = createLeaderHeartbeats(slow, PARTITION, timers)
  beats.begin(epoch, () => 1)
  await timers.pass(400)
  isSlow = true
  // One that says that it lives is under way.
  await timers.pass(200)
  const leaving = beats.leave()
  await timers.pass(10_000)
  await leaving
  expect(await lastHeartbeat()).toMatchObject({ state: 'leaves' })
  expect(timers.waiting).toBe(0)
})

test('an owner that hands over to its own store says for one more time that it lives', async () => {
  const { timers, journal, epoch, lastHeartbeat } = await owned()
  const beats = createLeaderHeartbeats(journal, PARTITION, timers)
  beats.begin(epoch, () => 1)
  await timers.pass(600)
  const before = await lastHeartbeat()
  const ending = beats.handOver()
  await timers.pass(10_000)
  await ending
  expect(await lastHeartbeat()).toEqual({ ...before, count: (before?.count ?? 0) + 1 })
})

test('an owner that leaves is held up for two seconds at most by a journal that is away', async () => {
  const { timers, epoch } = await owned()
  const beats = createLeaderHeartbeats(
    { heartbeat: () => new Promise(() => undefined) },
    PARTITION,
    timers,
  )
  beats.begin(epoch, () => 1)
  await timers.pass(1_000)
  let hasLeft = false
  void beats.leave().then(() => {
    hasLeft = true
  })
  await timers.pass(1_900)
  expect(hasLeft).toBe(false)
  await timers.pass(200)
  expect(hasLeft).toBe(true)
})

test('one that could not be said is followed by the next', async () => {
  const { timers, journal, epoch, lastHeartbeat } = await owned()
  let isAway = true
  const away: Pick<Journal, 'heartbeat'> = {
    heartbeat: (...asked) =>
      isAway ? Promise.reject(new JournalUnavailable('away')) : journal.heartbeat(...asked),
  }
  createLeaderHeartbeats(away, PARTITION, timers).begin(epoch, () => 1)
  await timers.pass(3_000)
  expect(await lastHeartbeat()).toBeNull()
  isAway = false
  await timers.pass(1_000)
  expect(await lastHeartbeat()).toMatchObject({ epoch, state: 'lives' })
})

test('one that leaves before it owned anything says nothing', async () => {
  const { timers, journal, lastHeartbeat } = await owned()
  await createLeaderHeartbeats(journal, PARTITION, timers).leave()
  expect(await lastHeartbeat()).toBeNull()
})

test('the beats of an owner that was taken over from are not those of its successor', async () => {
  const { timers, engine, journal, epoch, lastHeartbeat } = await owned()
  createLeaderHeartbeats(journal, PARTITION, timers).begin(epoch, () => 1)
  await timers.pass(1_000)
  const next = engine.connect()
  const taken = await next.acquire(PARTITION, 'next', 'another claim')
  createLeaderHeartbeats(next, PARTITION, timers).begin(taken.epoch, () => 5)
  await timers.pass(5_000)
  expect(await lastHeartbeat()).toMatchObject({ epoch: taken.epoch, stored: 5 })
})
