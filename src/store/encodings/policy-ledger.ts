import type { PolicyLedger, SlidingWindow, UnitsWindow } from '../../policy/policy-ledger.js'
import { closedAt, readSlide, slideBytes, slideOf } from '../../policy/slide-bytes.js'
import type { Slide, Totals } from '../../policy/sliding-buckets.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * A ledger is written with each call that its policy counts. It is stored as lists, because field
 * names would be most of it, and without its sliding windows, which would be most of the rest. Each
 * window is a separate record, written when one of its buckets closes.
 */
type Stored = readonly [
  atMs: number,
  count: number,
  micros: bigint,
  /** For each sliding window, its length in seconds and the result of `closedAt`. */
  windows: readonly number[],
  units: readonly (readonly [
    chainId: number,
    token: UnitsWindow['token'],
    day: number,
    dayUnits: bigint,
    month: number,
    monthUnits: bigint,
  ])[],
  breakers?: NonNullable<PolicyLedger['breakers']>,
]

/** @returns a value to put in the space `policyLedgers` */
export function encodePolicyLedger({ totals, windows, units, breakers }: PolicyLedger): Unsealed {
  const { atMs, count, micros } = totals
  const times: number[] = []
  for (const { perSeconds, slide } of windows) times.push(perSeconds, closedAt(slide))
  const taken = units.map(
    ({ chainId, token, day, dayUnits, month, monthUnits }) =>
      [chainId, token, day, dayUnits, month, monthUnits] as const,
  )
  const all = [atMs, count, micros, times, taken] as const
  const stored: Stored = breakers === undefined ? all : [...all, breakers]
  return packedRecord(stored)
}

/**
 * @param stored what `policyLedgers` holds
 * @param storedSlide returns the stored window of that length, for which `closedAt` returned the
 * second argument
 */
export function decodePolicyLedger(
  stored: unknown,
  storedSlide: (perSeconds: number, closedAtCount: number) => Slide,
): PolicyLedger {
  const [atMs, count, micros, times, taken, breakers] = stored as Stored
  const windows: SlidingWindow[] = []
  for (let at = 0; at + 1 < times.length; at += 2) {
    const perSeconds = Number(times[at])
    windows.push({ perSeconds, slide: storedSlide(perSeconds, Number(times[at + 1])) })
  }
  const units = taken.map(([chainId, token, day, dayUnits, month, monthUnits]) => ({
    ...{ chainId, token, day, dayUnits, month, monthUnits },
  }))
  const ledger: PolicyLedger = { totals: { atMs, count, micros }, windows, units }
  return breakers === undefined ? ledger : { ...ledger, breakers }
}

/** Bytes; for sums beyond 64 bits, a list of `atMs`, `count` and `micros` of each bucket. */
type StoredSlide = Uint8Array | readonly (number | bigint)[]

/** @returns a value to put in the space `policyWindows` */
export function encodeSlide(slide: Slide): Unsealed {
  const stored: StoredSlide = slideBytes(slide) ?? listOf(slide)
  return packedRecord(stored)
}

/** @param stored what `policyWindows` holds */
export function decodeSlide(stored: unknown): Slide {
  const known = stored as StoredSlide
  return known instanceof Uint8Array ? readSlide(known) : slideOf(readList(known))
}

function listOf({ before, closed }: Slide): (number | bigint)[] {
  return [before, ...closed].flatMap(({ atMs, count, micros }) => [atMs, count, micros])
}

function readList(fields: readonly (number | bigint)[]): Totals[] {
  const all: Totals[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [atMs, count] = [Number(fields[at]), Number(fields[at + 1])]
    all.push({ atMs, count, micros: BigInt(fields[at + 2] ?? 0) })
  }
  return all
}
