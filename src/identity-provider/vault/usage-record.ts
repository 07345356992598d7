import {
  NO_POLICY_LEDGER,
  type PolicyLedger,
  type SlidingWindow,
} from '../../policy/policy-ledger.js'
import { closedAt } from '../../policy/slide-bytes.js'
import type { Slide } from '../../policy/sliding-buckets.js'

/**
 * A lineage's usage in its stored form, since amounts of tokens exceed MessagePack's integers. Each
 * of its sliding times has its own row, written when one of its buckets closes, not at each
 * signature.
 */
export type StoredUsage = readonly [
  atMs: number,
  count: number,
  windows: readonly (readonly [perSeconds: number, closedAtCount: number])[],
  units: readonly (readonly [
    chainId: number,
    token: string,
    day: number,
    dayUnits: string,
    month: number,
    monthUnits: string,
  ])[],
]

export function storedUsage({ totals, windows, units }: PolicyLedger): StoredUsage {
  return [
    totals.atMs,
    totals.count,
    windows.map(({ perSeconds, slide }) => [perSeconds, closedAt(slide)]),
    units.map(({ chainId, token, day, dayUnits, month, monthUnits }) => [
      chainId,
      token,
      day,
      dayUnits.toString(),
      month,
      monthUnits.toString(),
    ]),
  ]
}

/**
 * @param storedSlide returns the stored row of a window of so many seconds; null without one
 * @throws Error for a row of another form, or a sliding time that does not continue the counts:
 * nothing is signed while counts are unknown
 */
export function readUsage(
  stored: StoredUsage | undefined,
  storedSlide: (perSeconds: number) => Slide | null,
): PolicyLedger {
  if (stored === undefined) return NO_POLICY_LEDGER
  if (!Array.isArray(stored) || typeof stored[0] !== 'number') {
    throw new Error('a row of usage that another build wrote')
  }
  const [atMs, count, windows, units] = stored
  return {
    // The identity provider knows no prices.
    totals: { atMs, count, micros: 0n },
    windows: windows.map(([perSeconds, closedAtCount]): SlidingWindow => {
      const slide = storedSlide(perSeconds)
      if (slide === null || closedAt(slide) !== closedAtCount) {
        throw new Error(`a row of usage without its last ${perSeconds} seconds`)
      }
      return { perSeconds, slide }
    }),
    units: units.map(([chainId, token, day, dayUnits, month, monthUnits]) => ({
      ...{ chainId, day, month },
      token: token as PolicyLedger['units'][number]['token'],
      dayUnits: BigInt(dayUnits),
      monthUnits: BigInt(monthUnits),
    })),
  }
}
