import { expect, test } from 'vitest'
import type { StoreKey, StoreRange } from '../../src/store/checked-space.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import type { Environment } from '../../src/store/environment.js'
import { openRealStore } from '../actors/real-store.js'
import { Disk } from './disk.js'
import { drawOf } from './random.js'
import { newLife, Scheduler } from './scheduler.js'

const ROUNDS = 40
/** By then all commits of a test would be written. */
const LONG_MS = 1_000

test('the disk of the simulator has what LMDB would have, in its order', async () => {
  const draw = drawOf(1, 'keys')
  const scheduler = new Scheduler(0)
  const simulated = new Disk(scheduler, drawOf(1, 'disk')).environmentOf(newLife())
  const real = await openRealStore()
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const rows = Array.from({ length: 5 }, () => [keyFrom(2), draw.integer(1_000)] as const)
      const write = ({ spaces }: Environment) => {
        for (const [key, value] of rows) {
          if (value < 300) void spaces.settlements.remove(key)
          else void spaces.settlements.put(key, packedRecord({ value, amount: BigInt(value) }))
        }
      }
      const written = simulated.root.batch(() => write(simulated))
      await scheduler.run(() => scheduler.nextMs === null)
      await written
      await real.environment.root.batch(() => write(real.environment))
      real.reader.fresh()
      for (let look = 0; look < 10; look++) {
        const range = rangeFrom()
        const read = ({ spaces }: Environment) => [...spaces.settlements.getRange(range)]
        expect(read(simulated), JSON.stringify(range)).toEqual(read(real.environment))
        const key = keyFrom(2)
        const get = ({ spaces }: Environment) => spaces.settlements.get(key)
        expect(get(simulated)).toEqual(get(real.environment))
      }
    }
  } finally {
    await real.close()
  }

  /** A tuple of one part comes back from LMDB as the part; no space has such keys. */
  function keyFrom(partsMin: number): StoreKey {
    const parts = [draw.pick([1, 10, 137]), draw.integer(4), draw.pick(['a', 'ab', 'b', 9])]
    return parts.slice(0, draw.between(partsMin, 3))
  }

  function rangeFrom(): StoreRange {
    const a = keyFrom(1)
    const b = draw.chance(0.5) ? [draw.pick([1, 10, 137]), '~'] : keyFrom(1)
    return {
      ...(draw.chance(0.8) ? { start: a } : {}),
      ...(draw.chance(0.8) ? { end: b } : {}),
      reverse: draw.chance(0.4),
      exclusiveStart: draw.chance(0.3),
      ...(draw.chance(0.3) ? { limit: 3 } : {}),
    }
  }
})

/** Commits one after another, of which each writes its number. */
function commitsOn(disk: Disk, count: number) {
  const life = newLife()
  const { root, spaces } = disk.environmentOf(life)
  const ended: string[] = []
  for (let nth = 1; nth <= count; nth++) {
    root
      .batch(() => void spaces.settlements.put([1, nth], packedRecord({ nth })))
      .then(
        () => void ended.push(`${nth}`),
        (error: Error) => void ended.push(`${nth} ${error.message}`),
      )
  }
  const written = () => [...spaces.settlements.getKeys({})].map((key) => (key as number[])[1])
  return { life, ended, written }
}

test('a power loss takes what the disk was not done with, and nothing that it promised', async () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const scheduler = new Scheduler(0)
    const disk = new Disk(scheduler, drawOf(seed, 'disk'))
    disk.faults = { latencyMsMax: 20, refusals: 0 }
    const { life, ended, written } = commitsOn(disk, 5)
    const endMs = drawOf(seed, 'end').integer(40)
    scheduler.at(endMs, () => disk.kill(life, true))
    await scheduler.run(() => scheduler.nextMs === null || (scheduler.nextMs ?? 0) > endMs)
    const before = written()
    expect(before.slice(0, ended.length).map(String)).toEqual(ended)
    await scheduler.run(() => scheduler.nextMs === null)
    expect(written()).toEqual(before)
  }
})

test('a killed process leaves a beginning of what it had asked for, in its order', async () => {
  const lengths = new Set<number>()
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const scheduler = new Scheduler(0)
    const disk = new Disk(scheduler, drawOf(seed, 'disk'))
    const { life, written } = commitsOn(disk, 5)
    disk.kill(life)
    await scheduler.run(() => scheduler.nextMs === null)
    expect(written()).toEqual([1, 2, 3, 4, 5].slice(0, written().length))
    lengths.add(written().length)
  }
  expect(lengths).toContain(0)
  expect(lengths).toContain(5)
})

test('a disk without room refuses, and has nothing of what it refused', async () => {
  const scheduler = new Scheduler(0)
  const disk = new Disk(scheduler, drawOf(1, 'disk'))
  disk.fullUntilMs = LONG_MS
  const full = commitsOn(disk, 2)
  await scheduler.run(() => scheduler.nextMs === null)
  expect(full.ended).toEqual(['1 ENOSPC', '2 ENOSPC'])
  expect(full.written()).toEqual([])
  scheduler.nowMs = LONG_MS
  const again = commitsOn(disk, 2)
  await scheduler.run(() => scheduler.nextMs === null)
  expect(again.written()).toEqual([1, 2])
  expect(again.ended).toEqual(['1', '2'])
})

test('each stage of each commit can be followed', async () => {
  const scheduler = new Scheduler(0)
  const disk = new Disk(scheduler, drawOf(1, 'disk'))
  const stages: string[] = []
  disk.followed = (nth, stage) => stages.push(`${stage} ${nth}`)
  commitsOn(disk, 2)
  await scheduler.run(() => scheduler.nextMs === null)
  expect(stages).toEqual(['asked 1', 'asked 2', 'written 1', 'written 2'])
})
