import { usdMicros } from '../parts/money.js'

/** What went out in the last 24 hours, by hour, as far as what is listed reaches back. */
export interface SpendByHour {
  /** Oldest first; the last one is the hour that runs. */
  readonly hours: readonly { readonly fromMs: number; readonly micros: bigint }[]
  readonly totalMicros: bigint
  /** Null: all 24 hours are told of. */
  readonly sinceMs: number | null
}

interface Spent {
  readonly created_at: string
  readonly status: string
  readonly spend_usd: string
}

const HOUR_MS = 3_600_000
const HOURS = 24
/** Nothing went out, or nothing has yet. */
const NOT_SPENT: readonly string[] = [
  'refused',
  'awaiting_approval',
  'declined',
  'expired',
  'withdrawn',
  'dropped',
]

/**
 * @param rows newest first
 * @param hasMore there are older ones than these
 */
export function spendByHour(rows: readonly Spent[], hasMore: boolean, nowMs: number): SpendByHour {
  const firstMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
  const micros = Array.from({ length: HOURS }, () => 0n)
  let totalMicros = 0n
  let oldestMs = nowMs
  for (const { created_at, status, spend_usd } of rows) {
    const atMs = Date.parse(created_at)
    oldestMs = Math.min(oldestMs, atMs)
    const hour = Math.floor((atMs - firstMs) / HOUR_MS)
    const before = micros[Math.min(hour, HOURS - 1)]
    if (hour < 0 || before === undefined || NOT_SPENT.includes(status)) continue
    const spent = usdMicros(spend_usd) ?? 0n
    micros[Math.min(hour, HOURS - 1)] = before + spent
    totalMicros += spent
  }
  return {
    hours: micros.map((one, index) => ({ fromMs: firstMs + index * HOUR_MS, micros: one })),
    totalMicros,
    sinceMs: hasMore && oldestMs > firstMs ? oldestMs : null,
  }
}

/** Per mille of the largest, at least one pixel's worth where there is anything. */
export function barHeights({ hours }: SpendByHour): readonly number[] {
  let most = 0n
  for (const { micros } of hours) if (micros > most) most = micros
  return hours.map(({ micros }) => {
    if (most === 0n || micros === 0n) return 0
    const share = Number((micros * 1_000n) / most)
    return Math.max(share, 25)
  })
}

/** In place of bars that would all be flat. */
export function nothingSpent({ sinceMs }: SpendByHour): string {
  return sinceMs === null
    ? 'Nothing went out in the last 24 hours'
    : `Nothing went out since ${clock(sinceMs)}`
}

/** Of the day, by the browser's clock and language. */
export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
}
