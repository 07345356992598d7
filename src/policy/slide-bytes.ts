import { BUCKETS, type Slide, type Totals } from './sliding-buckets.js'

/**
 * A sliding time as both domains store it. One is written whenever a bucket of it closes, for a key
 * that is used seldom at each call: through typed arrays, which take a fifth of what a DataView does
 * for bigints, and in the order of the machine's bytes, which is little endian wherever this runs.
 *
 * `atMs 8 | count 8 | micros 8` of what was before, and of each bucket that is closed
 */
const FIELDS = 3
const FIELD_BYTES = 8
const TOTALS_BYTES = FIELDS * FIELD_BYTES
/** What was before, and a bucket more than a time is divided into: both of its ends are in one. */
const TOTALS_MAX = BUCKETS + 2
const INT64_MAX = 2n ** 63n - 1n

const scratch = new Uint8Array(TOTALS_MAX * TOTALS_BYTES)
const numbers = new Float64Array(scratch.buffer)
const bigints = new BigInt64Array(scratch.buffer)

/** @returns null for sums past 64 bits; else bytes that are overwritten by the next call */
export function slideBytes({ before, closed }: Slide): Uint8Array | null {
  // They only ever grow.
  if ((closed.at(-1) ?? before).micros > INT64_MAX || closed.length >= TOTALS_MAX) return null
  let at = write(before, 0)
  for (const totals of closed) at = write(totals, at)
  return scratch.subarray(0, at * FIELD_BYTES)
}

/** @throws Error for bytes that are none of a sliding time */
export function readSlide(bytes: Uint8Array): Slide {
  if (bytes.length % TOTALS_BYTES !== 0) throw new Error('bytes of no sliding time')
  const all: Totals[] = []
  // A copy, since typed arrays begin at multiples of their size.
  const { buffer } = Uint8Array.from(bytes)
  const [read, readBig] = [new Float64Array(buffer), new BigInt64Array(buffer)]
  for (let at = 0; at < read.length; at += FIELDS) {
    const [atMs = 0, count = 0, micros = 0n] = [read[at], read[at + 1], readBig[at + 2]]
    all.push({ atMs, count, micros })
  }
  return slideOf(all)
}

/** @param all what was before, and then each bucket that is closed */
export function slideOf([before, ...closed]: readonly Totals[]): Slide {
  if (before === undefined) throw new Error('a sliding time without what was before it')
  return { before, closed }
}

/**
 * How many calls had been counted when it changed last: what its ledger knows it by, since no two of
 * its forms have the same.
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
