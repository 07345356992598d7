import { describe, expect, test } from 'vitest'
import { bytesInWords, queueInWords, secondsInWords } from '../../src/console/operations/figures.js'
import { chainsOf, partsOf, wordsOf } from '../../src/console/operations/health.js'
import { barHeights, nothingSpent, spendByHour } from '../../src/console/overview/spend-by-hour.js'
import { METERED_QUEUES } from '../../src/domain/meter.js'

/** What the console makes of figures before it draws them. */

const NOW = Date.parse('2026-11-23T12:34:56Z')
const row = (created_at: string, spend_usd: string, status = 'confirmed') => ({
  ...{ created_at, spend_usd, status },
})

describe('spend by hour', () => {
  test('has each hour of a day, the one that runs last', () => {
    const { hours, totalMicros, sinceMs } = spendByHour(
      [
        row('2026-11-23T12:00:00Z', '1.5'),
        row('2026-11-23T11:59:59Z', '2'),
        row('2026-11-22T13:00:00Z', '4'),
        row('2026-11-22T12:59:59Z', '8'),
      ],
      false,
      NOW,
    )
    expect(hours).toHaveLength(24)
    expect(hours.at(-1)?.micros).toBe(1_500_000n)
    expect(hours.at(-2)?.micros).toBe(2_000_000n)
    expect(hours[0]).toEqual({ fromMs: Date.parse('2026-11-22T13:00:00Z'), micros: 4_000_000n })
    expect(totalMicros).toBe(7_500_000n)
    expect(sinceMs).toBeNull()
  })

  test('counts nothing that did not go out', () => {
    const rows = ['refused', 'awaiting_approval', 'declined', 'dropped'].map((status) =>
      row('2026-11-23T12:00:00Z', '1', status),
    )
    expect(spendByHour(rows, false, NOW).totalMicros).toBe(0n)
  })

  test('says how far back it is told of, where there is more than was listed', () => {
    const oldest = '2026-11-23T10:00:00Z'
    const rows = [row('2026-11-23T12:00:00Z', '1'), row(oldest, '1')]
    expect(spendByHour(rows, true, NOW).sinceMs).toBe(Date.parse(oldest))
    expect(spendByHour(rows, false, NOW).sinceMs).toBeNull()
  })

  test('draws the largest whole, what is small visibly, and nothing as nothing', () => {
    const spend = spendByHour(
      [row('2026-11-23T12:00:00Z', '1000000'), row('2026-11-23T11:00:00Z', '0.000001')],
      false,
      NOW,
    )
    expect(barHeights(spend).slice(-3)).toEqual([0, 25, 1_000])
    expect(barHeights(spendByHour([], false, NOW))).toEqual(Array.from({ length: 24 }, () => 0))
  })
})

test('figures are shown in the largest unit that they fill', () => {
  expect([0, 1_023, 1_024, 1_536, 10 * 1_024, 268_435_456, 2 ** 50].map(bytesInWords)).toEqual([
    ...['0 bytes', '1023 bytes', '1.0 KiB', '1.5 KiB', '10 KiB', '256 MiB', '1024 TiB'],
  ])
  expect([0, 59, 60, 3_599, 3_600, 86_400].map(secondsInWords)).toEqual([
    ...['0 s', '59 s', '1 min', '59 min', '1 h', '1 d'],
  ])
})

test('every queue of the service has words, and one that is not known has its name', () => {
  const words = METERED_QUEUES.map(queueInWords)
  expect(new Set(words).size).toBe(METERED_QUEUES.length)
  for (const [index, queue] of METERED_QUEUES.entries()) {
    expect(words[index]).not.toBe(queue.replaceAll('_', ' '))
  }
  expect(queueInWords('new_queue')).toBe('new queue')
})

test('nothing spent is said of as far back as is known', () => {
  const none = spendByHour([], false, NOW)
  expect(nothingSpent(none)).toBe('Nothing went out in the last 24 hours')
  const refused = [row('2026-11-23T12:00:00Z', '1', 'refused')]
  expect(nothingSpent(spendByHour(refused, true, NOW))).toMatch(/^Nothing went out since \d/)
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
