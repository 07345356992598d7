import { describe, expect, test } from 'vitest'
import { describeQueue, formatBytes, formatSeconds } from '../../src/console/operations/figures.js'
import { chainsOf, partsOf, wordsOf } from '../../src/console/operations/health.js'
import { barHeights, spendByDay } from '../../src/console/overview/spend-by-day.js'
import { METERED_QUEUES } from '../../src/domain/meter.js'

/** What the console makes of figures before it draws them. */

const day = (date: string, spent_usd: string) => ({ date, spent_usd })

describe('spend by day', () => {
  test('has each day that is told of, of all keys together, the one that runs last', () => {
    const { days, totalMicros } = spendByDay([
      { days: [day('2026-11-22', '1.5'), day('2026-11-23', '0'), day('2026-11-24', '2')] },
      { days: [day('2026-11-22', '4'), day('2026-11-23', '0'), day('2026-11-24', '0.000001')] },
      {},
    ])
    expect(days).toEqual([
      { date: '2026-11-22', micros: 5_500_000n },
      { date: '2026-11-23', micros: 0n },
      { date: '2026-11-24', micros: 2_000_001n },
    ])
    expect(totalMicros).toBe(7_500_001n)
  })

  test('draws the largest whole, what is small visibly, and nothing as nothing', () => {
    const days = [
      day('2026-11-22', '0'),
      day('2026-11-23', '0.000001'),
      day('2026-11-24', '1000000'),
    ]
    expect(barHeights(spendByDay([{ days }]))).toEqual([0, 25, 1_000])
    expect(barHeights(spendByDay([{ days: days.slice(0, 1) }]))).toEqual([0])
  })
})

test('figures are shown in the largest unit that they fill', () => {
  expect([0, 1_023, 1_024, 1_536, 10 * 1_024, 268_435_456, 2 ** 50].map(formatBytes)).toEqual([
    ...['0 bytes', '1023 bytes', '1.0 KiB', '1.5 KiB', '10 KiB', '256 MiB', '1024 TiB'],
  ])
  expect([0, 59, 60, 3_599, 3_600, 86_400].map(formatSeconds)).toEqual([
    ...['0 s', '59 s', '1 min', '59 min', '1 h', '1 d'],
  ])
})

test('every queue of the service has words, and one that is not known has its name', () => {
  const words = METERED_QUEUES.map(describeQueue)
  expect(new Set(words).size).toBe(METERED_QUEUES.length)
  for (const [index, queue] of METERED_QUEUES.entries()) {
    expect(words[index]).not.toBe(queue.replaceAll('_', ' '))
  }
  expect(describeQueue('new_queue')).toBe('new queue')
})

describe('health by parts', () => {
  test('names what a part says, and leaves the chains to their own table', () => {
    const parts = partsOf({
      disk: { status: 'up', free_mib: 12, floor_mib: 1 },
      lists: { status: 'degraded', reason: 'Past their age: ofac.', stale: ['ofac'] },
      chains: {
        status: 'degraded',
        reason: 'No new blocks',
        chains: { 1: { status: 'up', head: 7, head_age_seconds: 3 }, 10: { status: 'down' } },
      },
    })
    const { disk, lists, chains } = parts
    if (disk === undefined || lists === undefined || chains === undefined) throw new Error('parts')
    expect(wordsOf(disk)).toBe('free mib 12 · floor mib 1')
    expect(wordsOf(lists)).toBe('Past their age: ofac. · stale ofac')
    expect(wordsOf(chains)).toBe('No new blocks')
    expect(chainsOf(parts)).toEqual([
      { chainId: 1, status: 'up', head: 7, headAgeSeconds: 3, reason: null },
      { chainId: 10, status: 'down', head: null, headAgeSeconds: null, reason: null },
    ])
    expect(chainsOf(partsOf(undefined))).toEqual([])
  })
})
