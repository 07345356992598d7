import type { FreezeReader } from './readers/freezes.js'

/**
 * The operator's freeze of the whole service as a row, which the journal brings to the next leader.
 * A home obeys its own file (`src/custody/instance-freeze.ts`).
 */
export interface CarriedFreeze {
  readonly sinceMs: number
  readonly reason: string | null
}

/** The largest time value of a date in ECMA-262. */
const TIME_MS_MAX = 8.64e15

/**
 * @returns null if the service is not frozen; 'unread' for a row that cannot be read, which freezes
 * like any other
 */
export function carriedFreezeOf(
  freezes: Pick<FreezeReader, 'instance'>,
): CarriedFreeze | null | 'unread' {
  let row: unknown
  try {
    row = freezes.instance()
  } catch {
    return 'unread'
  }
  if (row === undefined) return null
  const { sinceMs, reason } = Object(row) as Partial<Record<keyof CarriedFreeze, unknown>>
  if (typeof sinceMs !== 'number' || !(Math.abs(sinceMs) <= TIME_MS_MAX)) return 'unread'
  if (reason !== null && typeof reason !== 'string') return 'unread'
  return { sinceMs, reason }
}
