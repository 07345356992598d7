const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long ago something was, in the largest whole unit. */
export function agoOf(ms: number): string {
  if (ms < 5 * SECOND_MS) return 'just now'
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s ago`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`
  const days = Math.floor(ms / DAY_MS)
  return days === 1 ? 'yesterday' : `${days} days ago`
}

/** The remaining time in its two largest units. */
export function leftOf(ms: number): string {
  if (ms <= 0) return 'expired'
  const days = Math.floor(ms / DAY_MS)
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS)
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS)
  const seconds = Math.floor((ms % MINUTE_MS) / SECOND_MS)
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  if (minutes > 0) return `${minutes} min ${seconds} s`
  return `${seconds} s`
}
