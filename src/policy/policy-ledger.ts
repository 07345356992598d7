import { utcDay, utcMonth } from '../domain/spend.js'
import { CEILINGS_MAX, WINDOWS_MAX } from './bounds.js'
import type { BreakerTally } from './breakers.js'
import type { Token } from './call-terms.js'
import type { UnitsTaken } from './ceilings.js'
import type { Counted } from './condition.js'
import type { Ceiling } from './policy.js'
import {
  addToSlide,
  addToTotals,
  bucketsOf,
  countedSince,
  NOTHING_COUNTED,
  type Slide,
  type Totals,
} from './sliding-buckets.js'

/**
 * What was counted before, as far as a lineage's policy needs it: calls and USD in sliding windows,
 * and units in UTC days and months. Its size depends on what is counted, not on the number of
 * calls.
 */
export interface PolicyLedger {
  /** The calls and USD since the ledger exists. Sliding windows count a part of them. */
  readonly totals: Totals
  readonly windows: readonly SlidingWindow[]
  readonly units: readonly UnitsWindow[]
  /** Counts of signed calls; absent when the policy has no breaker that watches them. */
  readonly breakers?: BreakerTally
}

export interface SlidingWindow {
  readonly perSeconds: number
  readonly slide: Slide
}

export interface UnitsWindow {
  readonly chainId: number
  readonly token: Token
  readonly day: number
  readonly dayUnits: bigint
  readonly month: number
  readonly monthUnits: bigint
}

export const NO_POLICY_LEDGER: PolicyLedger = { totals: NOTHING_COUNTED, windows: [], units: [] }

const SECOND_MS = 1_000
const NONE_COUNTED: Counted = { count: 0, micros: 0n }
/** The windows of a policy, and the same number for the policy before it. */
const LEDGER_WINDOWS_MAX = 2 * WINDOWS_MAX
/** The same for ceilings. */
const LEDGER_UNITS_MAX = 2 * CEILINGS_MAX

/** A call that a policy counts. */
export interface CountedCall {
  readonly atMs: number
  readonly micros: bigint
  readonly taken: readonly UnitsTaken[]
}

/**
 * @param windows the sliding windows of the key's policy
 * @param ceilings the ceilings of the same policy. Windows of other keys of the lineage are updated
 * as long as something counts in them.
 */
export function addToLedger(
  ledger: PolicyLedger,
  call: CountedCall,
  windows: readonly number[],
  ceilings: readonly Ceiling[],
): PolicyLedger {
  const { atMs } = call
  const counted: SlidingWindow[] = []
  for (const perSeconds of windows) counted.push(addToWindow(ledger, perSeconds, atMs))
  for (const { perSeconds } of ledger.windows) {
    if (counted.length >= LEDGER_WINDOWS_MAX) break
    if (windows.includes(perSeconds) || !isOpen(ledger.totals, perSeconds, atMs)) continue
    counted.push(addToWindow(ledger, perSeconds, atMs))
  }
  const totals = addToTotals(ledger.totals, { atMs, count: 1, micros: call.micros })
  const units = addUnits(ledger.units, call, ceilings)
  const { breakers } = ledger
  // Literals, here and below: a spread would give each ledger a hidden class of its own.
  return breakers === undefined
    ? { totals, windows: counted, units }
    : { totals, windows: counted, units, breakers }
}

function addToWindow(
  { totals, windows }: PolicyLedger,
  perSeconds: number,
  atMs: number,
): SlidingWindow {
  const known = windowIn(windows, perSeconds)
  const slide = addToSlide(known?.slide ?? null, totals, atMs, perSeconds * SECOND_MS)
  return known !== null && known.slide === slide ? known : { perSeconds, slide }
}

/** Counts units again for a call that moves them after all; sliding windows already have it. */
export function takeUnits(
  ledger: PolicyLedger,
  atMs: number,
  taken: readonly UnitsTaken[],
): PolicyLedger {
  return { ...ledger, units: addUnits(ledger.units, { atMs, micros: 0n, taken }, []) }
}

/** Takes back the units of a call that moved none in the end; sliding windows keep it. */
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
  const { totals, windows } = ledger
  const known = windowIn(windows, perSeconds)
  if (known === null) return NONE_COUNTED
  return countedSince(known.slide, totals, nowMs - perSeconds * SECOND_MS)
}

/**
 * The time at which enough has left the sliding window for a call to be within bounds; null when
 * waiting never helps, also when the call is refused for being within them now.
 * @param drafted counted calls that are not in the ledger
 */
export function freesAt(
  ledger: PolicyLedger,
  drafted: readonly CountedCall[],
  perSeconds: number,
  isWithin: (counted: Counted) => boolean,
): number | null {
  const known = windowIn(ledger.windows, perSeconds)
  const entries = [
    ...(known === null ? [] : bucketsOf(known.slide, ledger.totals)),
    ...drafted.map(({ atMs, micros }) => ({ atMs, count: 1, micros })),
  ].sort((a, b) => a.atMs - b.atMs)
  let count = 0
  let micros = 0n
  for (const entry of entries) {
    count += entry.count
    micros += entry.micros
  }
  if (isWithin({ count, micros })) return null
  for (const { atMs, count: less, micros: lessMicros } of entries) {
    count -= less
    micros -= lessMicros
    if (isWithin({ count, micros })) return atMs + perSeconds * SECOND_MS
  }
  return null
}

/** The used part of a ceiling in its present window. */
export function unitsUsed(ledger: PolicyLedger, ceiling: Ceiling, nowMs: number): bigint {
  const { chainId, token, per } = ceiling
  const found = ledger.units.find((one) => one.chainId === chainId && one.token === token)
  if (found === undefined) return 0n
  // A clock that steps back opens no earlier window.
  if (per === 'day') return found.day >= utcDay(nowMs) ? found.dayUnits : 0n
  return found.month >= utcMonth(nowMs) ? found.monthUnits : 0n
}

export function isLedgerEmpty({ windows, units, breakers }: PolicyLedger): boolean {
  return windows.length === 0 && units.length === 0 && breakers === undefined
}

/** Whether nothing in the ledger counts any longer. */
export function isLedgerOver({ totals, windows, units }: PolicyLedger, nowMs: number): boolean {
  return (
    !units.some((one) => isUnitsOpen(one, nowMs)) &&
    !windows.some(({ perSeconds }) => isOpen(totals, perSeconds, nowMs))
  )
}

function isUnitsOpen({ day, month }: UnitsWindow, nowMs: number): boolean {
  return day >= utcDay(nowMs) || month >= utcMonth(nowMs)
}

function isOpen({ atMs }: Totals, perSeconds: number, nowMs: number): boolean {
  return atMs > nowMs - perSeconds * SECOND_MS
}

export function windowIn(
  windows: readonly SlidingWindow[],
  perSeconds: number,
): SlidingWindow | null {
  for (const one of windows) if (one.perSeconds === perSeconds) return one
  return null
}

function addUnits(
  units: readonly UnitsWindow[],
  { atMs, taken }: CountedCall,
  ceilings: readonly Ceiling[],
): readonly UnitsWindow[] {
  if (taken.length === 0) return units
  const [today, thisMonth] = [utcDay(atMs), utcMonth(atMs)]
  const kept: UnitsWindow[] = []
  for (const one of units) if (isOf(ceilings, one)) kept.push(one)
  for (const one of units) if (!isOf(ceilings, one) && isUnitsOpen(one, atMs)) kept.push(one)
  if (kept.length > LEDGER_UNITS_MAX) kept.length = LEDGER_UNITS_MAX
  for (const { chainId, token, amount } of taken) {
    let at = 0
    while (at < kept.length && !isSame(kept[at], chainId, token)) at++
    const before = kept[at]
    const day = Math.max(today, before?.day ?? today)
    const month = Math.max(thisMonth, before?.month ?? thisMonth)
    const dayUnits = (before?.day === day ? before.dayUnits : 0n) + amount
    const monthUnits = (before?.month === month ? before.monthUnits : 0n) + amount
    kept[at] = { chainId, token, day, dayUnits, month, monthUnits }
  }
  return kept
}

function isOf(ceilings: readonly Ceiling[], { chainId, token }: UnitsWindow): boolean {
  for (const one of ceilings) if (isSame(one, chainId, token)) return true
  return false
}

function isSame(
  one: Pick<UnitsWindow, 'chainId' | 'token'> | undefined,
  chainId: number,
  token: Token,
): boolean {
  return one !== undefined && one.chainId === chainId && one.token === token
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount
}
