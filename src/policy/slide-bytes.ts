import { BUCKETS, type Slide, type Totals } from './sliding-buckets.js'

/**
 * The stored form of a sliding window, in both domains. A window is written whenever one of its
 * buckets closes, which for a rarely used key is each call. It uses typed arrays, which take a
 * fifth of the time of a DataView for bigints, and the machine's byte order, which is little endian
 * wherever this runs.
 *
 * `atMs 8 | count 8 | micros 8` for the totals before the window, and for each closed bucket.
 */
const FIELDS = 3
const FIELD_BYTES = 8
const TOTALS_BYTES = FIELDS * FIELD_BYTES
/**
 * The totals before, and one bucket more than a window is divided into, because its two ends can
 * share one.
 */
const TOTALS_MAX = BUCKETS + 2
const INT64_MAX = 2n ** 63n - 1n

const scratch = new Uint8Array(TOTALS_MAX * TOTALS_BYTES)
const numbers = new Float64Array(scratch.buffer)
const bigints = new BigInt64Array(scratch.buffer)

/** @returns null for sums beyond 64 bits; otherwise bytes that the next call overwrites */
export function slideBytes({ before, closed }: Slide): Uint8Array | null {
  // The sums only ever grow.
  if ((closed.at(-1) ?? before).micros > INT64_MAX || closed.length >= TOTALS_MAX) return null
  let at = write(before, 0)
  for (const totals of closed) at = write(totals, at)
  return scratch.subarray(0, at * FIELD_BYTES)
}

/** @throws Error for bytes that are not a sliding window */
export function readSlide(bytes: Uint8Array): Slide {
  if (bytes.length % TOTALS_BYTES !== 0) throw new Error('the bytes are not a sliding window')
  const all: Totals[] = []
  // A copy, since typed arrays start at multiples of their element size.
  const { buffer } = Uint8Array.from(bytes)
  const [read, readBig] = [new Float64Array(buffer), new BigInt64Array(buffer)]
  for (let at = 0; at < read.length; at += FIELDS) {
    const [atMs = 0, count = 0, micros = 0n] = [read[at], read[at + 1], readBig[at + 2]]
    all.push({ atMs, count, micros })
  }
  return slideOf(all)
}

/** @param all the totals before the window, then each closed bucket */
export function slideOf([before, ...closed]: readonly Totals[]): Slide {
  if (before === undefined) throw new Error('a sliding window needs the totals before it')
  return { before, closed }
}

/**
 * The number of calls counted when it last changed. It identifies the form for the ledger, since no
 * two forms share it.
 */
export function closedAt({ before, closed }: Slide): number {
  return (closed.at(-1) ?? before).count
}

function write({ atMs, count, micros }: Totals, at: number): number {
  numbers[at] = atMs
  numbers[at + 1] = count
  bigints[at + 2] = micros
  return at + FIELDS
}
