/**
 * What was counted in a sliding window, in a size that depends on its division and not on the
 * number of entries.
 */
export interface Bucket {
  /** The time of its last entry: earlier entries count as long as that one. */
  readonly atMs: number
  readonly count: number
  readonly micros: bigint
}

/** An entry counts at most 1/64 longer than it must, and a ledger stays within kilobytes. */
export const BUCKETS = 64

/** @param buckets in order of time, at most one in each `1/BUCKETS` of the window */
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
  const last = kept.at(-1)
  if (last !== undefined && slotOf(last.atMs, spanMs) >= slotOf(atMs, spanMs)) {
    kept[kept.length - 1] = {
      atMs: Math.max(last.atMs, atMs),
      count: last.count + count,
      micros: last.micros + micros,
    }
  } else kept.push({ atMs, count, micros })
  return kept
}

/**
 * The same for what several sliding windows count together. Everything that a ledger ever counted
 * adds to one sum, and a window records that sum whenever one of its buckets closes: a call changes
 * only the sum, and no window until one of its buckets is over.
 */
export interface Slide {
  /** The totals before everything that counts in the window. */
  readonly before: Totals
  /** The totals at the end of each closed bucket, in order of time. */
  readonly closed: readonly Totals[]
}

/** Everything that was counted, and the time of the last entry. It only ever grows. */
export type Totals = Bucket

export const NOTHING_COUNTED: Totals = { atMs: 0, count: 0, micros: 0n }

const NONE_CLOSED: readonly Totals[] = []

export function addToTotals(totals: Totals, { atMs, count, micros }: Bucket): Totals {
  return {
    // A clock that steps back adds to the newest bucket.
    atMs: Math.max(totals.atMs, atMs),
    count: totals.count + count,
    micros: micros === 0n ? totals.micros : totals.micros + micros,
  }
}

/**
 * @param slide null when nothing was counted before
 * @param totals as they are before the entry
 * @param atMs the time of the entry
 * @returns the same object when the entry closes no bucket
 */
export function addToSlide(
  slide: Slide | null,
  totals: Totals,
  atMs: number,
  spanMs: number,
): Slide {
  const sinceMs = atMs - spanMs
  if (slide === null || totals.atMs <= sinceMs) return { before: totals, closed: NONE_CLOSED }
  if (slotOf(totals.atMs, spanMs) >= slotOf(atMs, spanMs)) return slide
  let { before } = slide
  let over = 0
  for (const mark of slide.closed) {
    if (mark.atMs > sinceMs) break
    before = mark
    over++
  }
  const closed = slide.closed.slice(over)
  closed.push(totals)
  return { before, closed }
}

/** The counts within the window: entries later than `sinceMs`. */
export function countedSince(
  { before, closed }: Slide,
  totals: Totals,
  sinceMs: number,
): { count: number; micros: bigint } {
  if (totals.atMs <= sinceMs) return { count: 0, micros: 0n }
  let from = before
  for (const mark of closed) {
    if (mark.atMs > sinceMs) break
    from = mark
  }
  return { count: totals.count - from.count, micros: difference(totals.micros, from.micros) }
}

export function bucketsOf({ before, closed }: Slide, totals: Totals): Bucket[] {
  let from = before
  return [...closed, totals].map((mark) => {
    const { atMs, count, micros } = mark
    const bucket = { atMs, count: count - from.count, micros: micros - from.micros }
    from = mark
    return bucket
  })
}

function slotOf(atMs: number, spanMs: number): number {
  return Math.floor((atMs * BUCKETS) / spanMs)
}

/** Bigint operations are the slowest here, and the identity provider has no sums. */
function difference(a: bigint, b: bigint): bigint {
  return b === 0n ? a : a - b
}
