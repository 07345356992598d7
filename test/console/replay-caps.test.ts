import { describe, expect, test } from 'vitest'
import type { TxId } from '../../src/domain/ids.js'
import type { SpendCaps } from '../../src/domain/spend.js'
import type { Transaction } from '../../src/domain/transaction.js'
import {
  type CapRefusal,
  REPLAY_START,
  replayCap,
} from '../../src/operations/console/replay-caps.js'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 30)

type Send = readonly [atMs: number, reservedUsd: number, spentUsd: number]

/** The fields a replay looks at. */
function sendOf([atMs, reservedUsd, spentUsd]: Send, i: number): Transaction {
  return {
    txId: `tx_${i}` as TxId,
    createdAtMs: START_MS + atMs,
    reservation: { micros: BigInt(reservedUsd * 1e6), day: 0, month: 0 },
    spentMicros: BigInt(spentUsd * 1e6),
  } as Transaction
}

function replay(caps: Partial<SpendCaps>, sends: readonly Send[]): CapRefusal[] {
  const whole = { dailyLimitMicros: null, monthlyLimitMicros: null, ...caps }
  const refused: CapRefusal[] = []
  sends.map(sendOf).reduce((state, tx) => {
    const { next, refusal } = replayCap(state, whole, tx)
    if (refusal !== null) refused.push(refusal)
    return next
  }, REPLAY_START)
  return refused
}

describe('other caps', () => {
  test('that are unlimited refuse nothing', () => {
    const sends: Send[] = [[0, 1_000, 900]]
    expect(replay({}, sends)).toEqual([])
  })

  test('refuse what would pass the day, and a refused send uses nothing', () => {
    const sends: Send[] = [
      [0, 6, 6],
      [1, 5, 5],
      [2, 4, 4],
    ]
    expect(replay({ dailyLimitMicros: 10_000_000n }, sends)).toEqual([
      {
        txId: 'tx_1',
        createdAtMs: START_MS + 1,
        requestedMicros: 5_000_000n,
        period: 'daily',
        usedMicros: 6_000_000n,
      },
    ])
  })

  test('ask for what was reserved, and count what was spent', () => {
    const sends: Send[] = [
      [0, 10, 1],
      [1, 10, 1],
    ]
    expect(replay({ dailyLimitMicros: 10_000_000n }, sends)).toHaveLength(1)
    expect(replay({ dailyLimitMicros: 11_000_000n }, sends)).toEqual([])
  })

  test('open new windows with the UTC day and the UTC month', () => {
    const daily: Send[] = [
      [0, 8, 8],
      [DAY_MS, 8, 8],
      [2 * DAY_MS, 8, 8],
    ]
    expect(replay({ dailyLimitMicros: 10_000_000n }, daily)).toEqual([])
    // 30 and 31 January share a month, 1 February begins one.
    const refused = replay({ monthlyLimitMicros: 10_000_000n }, daily)
    expect(refused.map(({ txId, period }) => [txId, period])).toEqual([['tx_1', 'monthly']])
  })
})
