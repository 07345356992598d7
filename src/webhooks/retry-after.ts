const SECONDS = /^\d{1,10}$/
/** RFC 9110, section 5.6.7: the current form; the two obsolete ones are also read. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/
const ASCTIME = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * The pause that a `Retry-After` requests (RFC 9110, section 10.2.3); the caller bounds it.
 * @param header null when absent
 * @returns milliseconds, 0 for a past date; null when unreadable
 */
export function readRetryAfterMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (SECONDS.test(text)) return Number(text) * 1_000
  const dateMs = HTTP_DATE.test(text)
    ? Date.parse(text)
    : ASCTIME.test(text)
      ? Date.parse(`${text} GMT`)
      : Number.NaN
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs)
}
