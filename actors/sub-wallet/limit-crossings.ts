import type { Transaction } from '../../src/domain/transaction.js'
import type { Event } from './messages.js'
import { countersOf, type SubWalletState } from './state.js'

/** Shares of a cap at which the owner is told (`limit.reached`). */
const THRESHOLDS = [80, 100] as const

/** The thresholds that this transaction's reservation took its key's caps past. */
export function* limitsCrossed(
  state: SubWalletState,
  tx: Transaction,
  nowMs: number,
): Generator<Extract<Event, { type: 'limit-reached' }>> {
  const key = state.keys.get(tx.keyId)
  if (key === undefined) return
  const counters = countersOf(state, tx.lineageId, nowMs)
  const periods = [
    ['daily', key.dailyLimitMicros, counters.dayMicros],
    ['monthly', key.monthlyLimitMicros, counters.monthMicros],
  ] as const
  for (const [period, limitMicros, usedMicros] of periods) {
    if (limitMicros === null || limitMicros === 0n) continue
    const beforeMicros = usedMicros - tx.reservation.micros
    for (const percent of THRESHOLDS) {
      const markMicros = (limitMicros * BigInt(percent)) / 100n
      if (beforeMicros < markMicros && usedMicros >= markMicros) {
        yield {
          type: 'limit-reached',
          keyId: tx.keyId,
          period,
          percent,
          limitMicros,
          usedMicros,
          atMs: nowMs,
        }
      }
    }
  }
}
