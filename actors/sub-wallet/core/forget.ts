import { keyStatus } from '../../../src/domain/api-key.js'
import type { LineageId } from '../../../src/domain/ids.js'
import { utcDay, utcMonth } from '../../../src/domain/spend.js'
import { isLedgerOver } from '../../../src/policy/policy-ledger.js'
import type { Command } from './messages.js'
import { runningKey, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * Removes what need not be remembered, so that neither the header nor the store grows with history.
 */

/** @param command holds the keys whose records have expired, according to the store */
export function forgetIdempotency(
  turn: Turn,
  command: Extract<Command, { type: 'forget-idempotency' }>,
): void {
  const { lineageId } = command
  // A key that is in use again is being written again and stays.
  const keys = command.keys.filter((key) => !turn.state.running.has(runningKey(lineageId, key)))
  if (keys.length > 0) turn.emit({ type: 'idempotency-forgotten', lineageId, keys })
}

/**
 * Forgets lineages whose keys are revoked and whose windows have closed. It runs when a key is
 * made, because only then the number of lineages grows.
 */
export function forgetLineages(turn: Turn, nowMs: number): void {
  const { state } = turn
  const lineageIds = [...state.spend.keys()].filter((id) => isOver(state, id, nowMs))
  if (lineageIds.length > 0) turn.emit({ type: 'lineages-forgotten', lineageIds })
}

function isOver(state: SubWalletState, lineageId: LineageId, nowMs: number): boolean {
  const counters = state.spend.get(lineageId)
  if (counters === undefined || counters.reservedMicros > 0n || state.draftSpend.has(lineageId)) {
    return false
  }
  const ledger = state.policyLedgers.get(lineageId)
  if (ledger !== undefined && !isLedgerOver(ledger, nowMs)) return false
  // A window opened by a clock that ran ahead stays open until that time.
  if (counters.day >= utcDay(nowMs) || counters.month >= utcMonth(nowMs)) return false
  for (const key of state.keys.values()) {
    if (key.lineageId === lineageId && keyStatus(key, nowMs) !== 'revoked') return false
  }
  return true
}
