/** ISO 8601 UTC with milliseconds, as all times on the wire. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
