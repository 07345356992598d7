import { utcDay, utcMonth } from '../domain/spend.js'
import type { BreakerTally } from './breakers.js'
import type { UnitsTaken } from './ceilings.js'
import type { Counted } from './condition.js'
import { CEILINGS_MAX, type Ceiling, type Token, WINDOWS_MAX } from './policy.js'
import { addToBuckets, type Bucket } from './sliding-buckets.js'

/**
 * What went before, as far as a lineage's policy asks: calls and USD in sliding times, and units in
 * UTC days and months. As small as what is counted, however many calls there were.
 */
export interface PolicyLedger {
  readonly windows: readonly SlidingWindow[]
  readonly units: readonly UnitsWindow[]
  /** Of calls that were signed; absent where its policy has no breaker that looks at them. */
  readonly breakers?: BreakerTally
}

export interface SlidingWindow {
  readonly perSeconds: number
  /** By time, at most one in each `1/BUCKETS` of the time. */
  readonly buckets: readonly Bucket[]
}

export interface UnitsWindow {
  readonly chainId: number
  readonly token: Token
  readonly day: number
  readonly dayUnits: bigint
  readonly month: number
  readonly monthUnits: bigint
}

export const NO_POLICY_LEDGER: PolicyLedger = { windows: [], units: [] }

const SECOND_MS = 1_000
/** A policy's own, and as many of the policy before it. */
const LEDGER_WINDOWS_MAX = 2 * WINDOWS_MAX
/** The same of ceilings. */
const LEDGER_UNITS_MAX = 2 * CEILINGS_MAX

/** A call that a policy counts. */
export interface CountedCall {
  readonly atMs: number
  readonly micros: bigint
  readonly taken: readonly UnitsTaken[]
}

/**
 * @param windows sliding times of the key's policy
 * @param ceilings of the same. What other keys of the lineage count in goes on as long as something
 * counts in it.
 */
export function addToLedger(
  ledger: PolicyLedger,
  call: CountedCall,
  windows: readonly number[],
  ceilings: readonly Ceiling[],
): PolicyLedger {
  const others = ledger.windows.filter(
    ({ perSeconds, buckets }) =>
      !windows.includes(perSeconds) && isOpen(buckets, perSeconds, call.atMs),
  )
  const entry = { atMs: call.atMs, count: 1, micros: call.micros }
  const all = [...windows, ...others.map(({ perSeconds }) => perSeconds)]
  const counted = all.slice(0, LEDGER_WINDOWS_MAX).map((perSeconds) => {
    const buckets = ledger.windows.find((one) => one.perSeconds === perSeconds)?.buckets ?? []
    return { perSeconds, buckets: addToBuckets(buckets, entry, perSeconds * SECOND_MS) }
  })
  const units = addUnits(ledger.units, call, ceilings)
  const { breakers } = ledger
  // Literals, here and below: a spread would give each a hidden class of its own.
  return breakers === undefined
    ? { windows: counted, units }
    : { windows: counted, units, breakers }
}

/** Counts units anew of a call that moves them after all; sliding times have it already. */
export function takeUnits(
  ledger: PolicyLedger,
  atMs: number,
  taken: readonly UnitsTaken[],
): PolicyLedger {
  return { ...ledger, units: addUnits(ledger.units, { atMs, micros: 0n, taken }, []) }
}

/** Takes back units of a call that moved none in the end; sliding times keep it. */
export function returnUnits(
  ledger: PolicyLedger,
  atMs: number,
  taken: readonly UnitsTaken[],
): PolicyLedger {
  const [day, month] = [utcDay(atMs), utcMonth(atMs)]
  const units = ledger.units.map((one) => {
    const back = taken.find(({ chainId, token }) => one.chainId === chainId && one.token === token)
    if (back === undefined) return one
    return {
      ...one,
      dayUnits: one.day === day ? atLeastZero(one.dayUnits - back.amount) : one.dayUnits,
      monthUnits: one.month === month ? atLeastZero(one.monthUnits - back.amount) : one.monthUnits,
    }
  })
  return { ...ledger, units }
}

export function countedWithin(ledger: PolicyLedger, perSeconds: number, nowMs: number): Counted {
  const window = ledger.windows.find((one) => one.perSeconds === perSeconds)
  let count = 0
  let micros = 0n
  const sinceMs = nowMs - perSeconds * SECOND_MS
  for (const bucket of window?.buckets ?? []) {
    if (bucket.atMs <= sinceMs) continue
    count += bucket.count
    // To add bigints takes longer than all else here, and the user side has no sums.
    if (bucket.micros !== 0n) micros += bucket.micros
  }
  return { count, micros }
}

/**
 * When enough has left the sliding window for a call to be within bounds again.
 * @param drafted counted calls that are not in the ledger
 */
export function freesAt(
  ledger: PolicyLedger,
  drafted: readonly CountedCall[],
  perSeconds: number,
  isWithin: (counted: Counted) => boolean,
): number | null {
  const window = ledger.windows.find((one) => one.perSeconds === perSeconds)
  const entries: Bucket[] = [
    ...(window?.buckets ?? []),
    ...drafted.map(({ atMs, micros }) => ({ atMs, count: 1, micros })),
  ].sort((a, b) => a.atMs - b.atMs)
  let count = 0
  let micros = 0n
  for (const entry of entries) {
    count += entry.count
    micros += entry.micros
  }
  for (const { atMs, count: less, micros: lessMicros } of entries) {
    count -= less
    micros -= lessMicros
    if (isWithin({ count, micros })) return atMs + perSeconds * SECOND_MS
  }
  return null
}

/** How much of a ceiling is used in its current window. */
export function unitsUsed(ledger: PolicyLedger, ceiling: Ceiling, nowMs: number): bigint {
  const { chainId, token, per } = ceiling
  const found = ledger.units.find((one) => one.chainId === chainId && one.token === token)
  if (found === undefined) return 0n
  // A clock that steps back opens no window anew.
  if (per === 'day') return found.day >= utcDay(nowMs) ? found.dayUnits : 0n
  return found.month >= utcMonth(nowMs) ? found.monthUnits : 0n
}

export function isLedgerEmpty({ windows, units, breakers }: PolicyLedger): boolean {
  return windows.length === 0 && units.length === 0 && breakers === undefined
}

/** Whether nothing in it counts any more. */
export function isLedgerOver(ledger: PolicyLedger, nowMs: number): boolean {
  return (
    !ledger.units.some((one) => isUnitsOpen(one, nowMs)) &&
    !ledger.windows.some(({ perSeconds, buckets }) => isOpen(buckets, perSeconds, nowMs))
  )
}

function isUnitsOpen({ day, month }: UnitsWindow, nowMs: number): boolean {
  return day >= utcDay(nowMs) || month >= utcMonth(nowMs)
}

function isOpen(buckets: readonly Bucket[], perSeconds: number, nowMs: number): boolean {
  const last = buckets.at(-1)
  return last !== undefined && last.atMs > nowMs - perSeconds * SECOND_MS
}

function addUnits(
  units: readonly UnitsWindow[],
  { atMs, taken }: CountedCall,
  ceilings: readonly Ceiling[],
): readonly UnitsWindow[] {
  if (taken.length === 0) return units
  const [today, thisMonth] = [utcDay(atMs), utcMonth(atMs)]
  const isOwn = (one: UnitsWindow) =>
    ceilings.some(({ chainId, token }) => one.chainId === chainId && one.token === token)
  const others = units.filter((one) => !isOwn(one) && isUnitsOpen(one, atMs))
  const kept = [...units.filter(isOwn), ...others].slice(0, LEDGER_UNITS_MAX)
  for (const { chainId, token, amount } of taken) {
    const at = kept.findIndex((one) => one.chainId === chainId && one.token === token)
    const before = kept[at]
    const day = Math.max(today, before?.day ?? today)
    const month = Math.max(thisMonth, before?.month ?? thisMonth)
    const dayUnits = (before?.day === day ? before.dayUnits : 0n) + amount
    const monthUnits = (before?.month === month ? before.monthUnits : 0n) + amount
    const after: UnitsWindow = { chainId, token, day, dayUnits, month, monthUnits }
    if (at < 0) kept.push(after)
    else kept[at] = after
  }
  return kept
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount
}
