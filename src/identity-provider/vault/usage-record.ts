import {
  NO_POLICY_LEDGER,
  type PolicyLedger,
  type SlidingWindow,
} from '../../policy/policy-ledger.js'
import { closedAt } from '../../policy/slide-bytes.js'
import type { Slide } from '../../policy/sliding-buckets.js'

/**
 * A lineage's usage as its row has it: amounts of tokens go past what MessagePack has integers for.
 * Each of its sliding times is a row of its own, which is put when a bucket of it closes and not at
 * each signature.
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
 * @param storedSlide what is stored of so many seconds; null: nothing
 * @throws Error for a row of another form, or a sliding time that is not the one that it goes on
 * from: nothing is signed on counts that are not known
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
    // The user side knows no prices.
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
