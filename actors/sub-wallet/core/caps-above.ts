import type { ApiKey } from '../../../src/domain/api-key.js'
import type { LineageId } from '../../../src/domain/ids.js'
import type { SpendCounters } from '../../../src/domain/spend.js'
import { ancestorsOf } from './key-tree.js'
import { countersOf, type SubWalletState } from './state.js'

/** A key whose caps bind a call, with everything that counts against them now. */
export interface CapNode {
  readonly key: ApiKey
  readonly counters: SpendCounters
}

const NONE: readonly CapNode[] = []

/** The caps of the keys above a lineage, nearest first. */
export function capsAbove(
  state: SubWalletState,
  lineageId: LineageId,
  nowMs: number,
): readonly CapNode[] {
  const ancestors = ancestorsOf(state, lineageId)
  if (ancestors.length === 0) return NONE
  return ancestors.map((key) => ({ key, counters: countersOf(state, key.lineageId, nowMs) }))
}

/**
 * The windows in which a call counts: the newest window that is open on the path, so that a clock
 * that steps back cannot leave the call out of any of them.
 */
export function windowsOf(
  { day, month }: Pick<SpendCounters, 'day' | 'month'>,
  above: readonly CapNode[],
): Pick<SpendCounters, 'day' | 'month'> {
  let newest = { day, month }
  for (const { counters } of above) {
    newest = {
      day: Math.max(newest.day, counters.day),
      month: Math.max(newest.month, counters.month),
    }
  }
  return newest
}

/** The least that is left of all these caps; null means no limit. */
export function leftOfCaps(
  nodes: readonly CapNode[],
): Readonly<Record<'dailyMicros' | 'monthlyMicros', bigint | null>> {
  let dailyMicros: bigint | null = null
  let monthlyMicros: bigint | null = null
  for (const { key, counters } of nodes) {
    dailyMicros = lesserLeft(dailyMicros, key.dailyLimitMicros, counters.dayMicros)
    monthlyMicros = lesserLeft(monthlyMicros, key.monthlyLimitMicros, counters.monthMicros)
  }
  return { dailyMicros, monthlyMicros }
}

function lesserLeft(before: bigint | null, limit: bigint | null, used: bigint): bigint | null {
  if (limit === null) return before
  // Spend that a receipt showed may have passed the cap.
  const left = limit > used ? limit - used : 0n
  return before === null || left < before ? left : before
}
