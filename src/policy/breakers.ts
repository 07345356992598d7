import { formatUsd, type UsdMicros } from '../domain/money.js'
import type { Breaker } from './policy.js'
import { addToBuckets, type Bucket } from './sliding-buckets.js'

/**
 * Freezes a key automatically. It is a fold over what happened, without a clock of its own, so that
 * the audit trail yields the same trips again.
 */

/** The facts that breakers watch, in the order in which they happened. */
export type Watched =
  /** A call of the key was refused for its content; see `COUNTED_REFUSALS`. */
  | { readonly type: 'refused'; readonly atMs: number }
  /** A call was allowed and signed. */
  | {
      readonly type: 'signed'
      readonly atMs: number
      /** The reserved micro-USD, gas included. */
      readonly micros: UsdMicros
      /** The number of its beneficiaries that the sub-wallet had not paid before. */
      readonly newBeneficiaries: number
    }

/** The counts of breakers since the key was made, or since one of them tripped. */
export type BreakerTally = readonly BreakerWindow[]

interface BreakerWindow {
  readonly kind: Breaker['kind']
  readonly perSeconds: number
  /** The time of the first entry since which this window has no gap. */
  readonly sinceMs: number
  readonly buckets: readonly Bucket[]
}

export interface Trip {
  readonly breaker: Breaker
  readonly atMs: number
  /** The reason of the freeze, with the figures. */
  readonly reason: string
}

export const NO_TALLY: BreakerTally = []

/**
 * The refusals that a key itself causes. An unavailable node, list or quorum says nothing about the
 * key, and calls of a frozen key do not count again.
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

/** The spend of a window is compared with the mean of this many windows before it … */
const MEAN_OF = 7
/** … or of fewer, but at least this many: before that a key has no usual spend. */
const MEAN_OF_MIN = 3
const SECOND_MS = 1_000

/** Whether a breaker watches facts of this type. */
export function watches({ kind }: Breaker, type: Watched['type']): boolean {
  return (kind === 'refusals') === (type === 'refused')
}

/**
 * @param tally the counts for one type of `Watched`, or for both
 * @returns the tally with the new fact; where a breaker tripped, it starts again
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

/**
 * The trips of a log.
 * @param log in order of time
 */
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
  // After a gap in which everything expired, the next fact counts as the first again.
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
    // A key that was idle in all earlier windows has no mean.
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
