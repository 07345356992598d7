import { usdMicros } from '../parts/money.js'

/** The spend of each requested day. */
export interface SpendByDay {
  /** Oldest first; the last one is the current UTC day. */
  readonly days: readonly { readonly date: string; readonly micros: bigint }[]
  readonly totalMicros: bigint
}

interface Spender {
  readonly days?: readonly { readonly date: string; readonly spent_usd: string }[] | undefined
}

export const DAYS = 30

/** Sums the days of all spenders. */
export function spendByDay(spenders: readonly Spender[]): SpendByDay {
  const byDate = new Map<string, bigint>()
  let totalMicros = 0n
  for (const { days = [] } of spenders) {
    for (const { date, spent_usd } of days) {
      const spent = usdMicros(spent_usd) ?? 0n
      byDate.set(date, (byDate.get(date) ?? 0n) + spent)
      totalMicros += spent
    }
  }
  const days = [...byDate].map(([date, micros]) => ({ date, micros }))
  days.sort((a, b) => (a.date < b.date ? -1 : 1))
  return { days, totalMicros }
}

/** Per mille of the largest day; at least one pixel if anything was spent. */
export function barHeights({ days }: SpendByDay): readonly number[] {
  let most = 0n
  for (const { micros } of days) if (micros > most) most = micros
  return days.map(({ micros }) => {
    if (most === 0n || micros === 0n) return 0
    const share = Number((micros * 1_000n) / most)
    return Math.max(share, 25)
  })
}

/** Shown instead of bars that would all be flat. */
export const NOTHING_SPENT = `Nothing was spent in the last ${DAYS} days`

/** A UTC day in the browser's language. */
export function dayName(date: string): string {
  const options = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
  return new Date(`${date}T00:00:00Z`).toLocaleDateString([], options)
}
