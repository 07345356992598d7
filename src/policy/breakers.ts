import { formatUsd, type UsdMicros } from '../domain/money.js'
import type { Breaker } from './policy.js'
import { addToBuckets, type Bucket } from './sliding-buckets.js'

/**
 * What freezes a key by itself. A fold over what happened, with no clock of its own, so that the
 * audit trail gives the same trips again.
 */

/** What breakers look at, in the order in which it happened. */
export type Watched =
  /** A call that the key was refused for what it asked; see `COUNTED_REFUSALS`. */
  | { readonly type: 'refused'; readonly atMs: number }
  /** A call was let through and signed. */
  | {
      readonly type: 'signed'
      readonly atMs: number
      /** As it was reserved, gas included. */
      readonly micros: UsdMicros
      /** Those it pays that the sub-wallet had not paid before. */
      readonly newBeneficiaries: number
    }

/** What breakers have counted since the key was made, or since one of them tripped. */
export type BreakerTally = readonly BreakerWindow[]

export interface BreakerWindow {
  readonly kind: Breaker['kind']
  readonly perSeconds: number
  /** Of the first entry that this window has known without a gap. */
  readonly sinceMs: number
  readonly buckets: readonly Bucket[]
}

export interface Trip {
  readonly breaker: Breaker
  readonly atMs: number
  /** With the figures; it is the reason of the freeze. */
  readonly reason: string
}

export const NO_TALLY: BreakerTally = []

/**
 * What a key is refused for by its own doing. A node, a list or the quorum that is away says
 * nothing of it, and calls of what is frozen do not count again.
 */
export const COUNTED_REFUSALS: ReadonlySet<string> = new Set([
  'PERMISSION_DENIED',
  'CHAIN_NOT_ALLOWED',
  'LIMIT_EXCEEDED',
  'ADDRESS_BLOCKED',
  'POLICY_DENIED',
  'DUPLICATE_SUSPECTED',
  'INSUFFICIENT_FUNDS',
  'SIMULATION_REVERTED',
  'CALLDATA_UNDECODABLE',
])

/** The spend of a time is held against the mean of so many of them before it … */
const MEAN_OF = 7
/** … or of fewer, but at least these: before that a key has no habit yet. */
const MEAN_OF_MIN = 3
const SECOND_MS = 1_000

/** The breakers that look at what has such a type. */
export function watches({ kind }: Breaker, type: Watched['type']): boolean {
  return (kind === 'refusals') === (type === 'refused')
}

/**
 * @param tally of one type of `Watched`, or of both
 * @returns the tally with it; where a breaker tripped, it begins anew
 */
export function watch(
  breakers: readonly Breaker[],
  tally: BreakerTally,
  seen: Watched,
): { readonly tally: BreakerTally; readonly trip: Trip | null } {
  const next: BreakerWindow[] = []
  for (const breaker of breakers) {
    const { kind, perSeconds } = breaker
    if (next.some((one) => one.kind === kind && one.perSeconds === perSeconds)) continue
    const known = tally.find((one) => one.kind === kind && one.perSeconds === perSeconds)
    const window = watches(breaker, seen.type) ? counted(breaker, known, seen) : known
    if (window !== undefined) next.push(window)
  }
  for (const breaker of breakers) {
    const window = next.find(
      ({ kind, perSeconds }) => kind === breaker.kind && perSeconds === breaker.perSeconds,
    )
    if (window === undefined || !watches(breaker, seen.type)) continue
    const reason = reasonOf(breaker, window, seen.atMs)
    if (reason !== null) return { tally: NO_TALLY, trip: { breaker, atMs: seen.atMs, reason } }
  }
  return { tally: next, trip: null }
}

/** The trips of a log. @param log by time */
export function replayBreakers(breakers: readonly Breaker[], log: Iterable<Watched>): Trip[] {
  const trips: Trip[] = []
  let tally = NO_TALLY
  for (const seen of log) {
    const step = watch(breakers, tally, seen)
    tally = step.tally
    if (step.trip !== null) trips.push(step.trip)
  }
  return trips
}

function counted(
  { kind, perSeconds }: Breaker,
  known: BreakerWindow | undefined,
  seen: Watched,
): BreakerWindow | undefined {
  const { atMs } = seen
  const count = seen.type === 'refused' || kind === 'spend_factor' ? 1 : seen.newBeneficiaries
  if (count === 0) return known
  const micros = seen.type === 'signed' ? seen.micros : 0n
  const spanMs = spanMsOf(kind, perSeconds)
  const buckets = addToBuckets(known?.buckets ?? [], { atMs, count, micros }, spanMs)
  // Nothing for so long that all of it is forgotten: whatever comes is the first again.
  const goesOn = known?.buckets.some((one) => one.atMs > atMs - spanMs) === true
  return { kind, perSeconds, sinceMs: goesOn ? known.sinceMs : atMs, buckets }
}

function spanMsOf(kind: Breaker['kind'], perSeconds: number): number {
  return perSeconds * SECOND_MS * (kind === 'spend_factor' ? MEAN_OF + 1 : 1)
}

function reasonOf(
  { kind, count, factor, perSeconds }: Breaker,
  { sinceMs, buckets }: BreakerWindow,
  nowMs: number,
): string | null {
  const perMs = perSeconds * SECOND_MS
  if (kind === 'spend_factor') {
    const before = Math.min(MEAN_OF, Math.floor((nowMs - sinceMs) / perMs) - 1)
    if (factor === null || before < MEAN_OF_MIN) return null
    const { micros: recent } = within(buckets, nowMs - perMs, nowMs)
    const { micros: earlier } = within(buckets, nowMs - (before + 1) * perMs, nowMs - perMs)
    // Of a key that rested all the while there is no mean.
    if (earlier === 0n || recent * BigInt(before) <= BigInt(factor) * earlier) return null
    const mean = formatUsd(earlier / BigInt(before))
    return `breaker: ${formatUsd(recent)} USD in ${perSeconds} s, more than ${factor} times the mean of ${mean} USD`
  }
  const { count: seen } = within(buckets, nowMs - perMs, nowMs)
  if (count === null || seen < count) return null
  const what = kind === 'refusals' ? 'refusals' : 'new beneficiaries'
  return `breaker: ${seen} ${what} in ${perSeconds} s, where ${count} are too many`
}

function within(buckets: readonly Bucket[], afterMs: number, untilMs: number) {
  let count = 0
  let micros = 0n
  for (const bucket of buckets) {
    if (bucket.atMs <= afterMs || bucket.atMs > untilMs) continue
    count += bucket.count
    micros += bucket.micros
  }
  return { count, micros }
}
