/** What went on in a sliding time, as small as the time is divided, however much there was. */
export interface Bucket {
  /** Of its last entry: those before it count as long as that one. */
  readonly atMs: number
  readonly count: number
  readonly micros: bigint
}

/** An entry counts for at most 1/64 longer than it must, and a ledger stays within kilobytes. */
export const BUCKETS = 64

/** @param buckets by time, at most one in each `1/BUCKETS` of the time */
export function addToBuckets(
  buckets: readonly Bucket[],
  { atMs, count, micros }: Bucket,
  spanMs: number,
): Bucket[] {
  const newestMs = Math.max(atMs, buckets.at(-1)?.atMs ?? atMs)
  let over = 0
  for (const bucket of buckets) {
    if (bucket.atMs > newestMs - spanMs) break
    over++
  }
  const kept = buckets.slice(over)
  const slot = (ms: number) => Math.floor((ms * BUCKETS) / spanMs)
  const last = kept.at(-1)
  if (last !== undefined && slot(last.atMs) >= slot(atMs)) {
    kept[kept.length - 1] = {
      atMs: Math.max(last.atMs, atMs),
      count: last.count + count,
      micros: last.micros + micros,
    }
  } else kept.push({ atMs, count, micros })
  return kept
}
