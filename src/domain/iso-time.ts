const SECOND_MS = 1_000
/** `.mmmZ` */
const FRACTION_CHARS = 5

/**
 * A send formats two or three times, nearly always of one second; the calendar is the expensive
 * part.
 */
let last = { second: Number.NaN, text: '' }

/**
 * ISO 8601 UTC with milliseconds, like all times on the wire.
 * @throws RangeError for an invalid time
 */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / SECOND_MS)
  if (second !== last.second) {
    last = { second, text: new Date(second * SECOND_MS).toISOString().slice(0, -FRACTION_CHARS) }
  }
  const fraction = Math.floor(ms - second * SECOND_MS)
  return `${last.text}.${String(fraction).padStart(3, '0')}Z`
}

/** Milliseconds since the Unix epoch; NaN for an invalid time. */
export function parseIsoTime(text: string): number {
  return Date.parse(text)
}
