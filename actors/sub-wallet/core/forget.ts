import { keyStatus } from '../../../src/domain/api-key.js'
import type { LineageId } from '../../../src/domain/ids.js'
import { utcDay, utcMonth } from '../../../src/domain/spend.js'
import { isLedgerOver } from '../../../src/policy/policy-ledger.js'
import type { Command } from './messages.js'
import { runningKey, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/** What need not be remembered any more, so that neither header nor store grow with history. */

/** @param command with the keys whose records are older than they count, as the store has them */
export function forgetIdempotency(
  turn: Turn,
  command: Extract<Command, { type: 'forget-idempotency' }>,
): void {
  const { lineageId } = command
  // One that was used again is being written anew.
  const keys = command.keys.filter((key) => !turn.state.running.has(runningKey(lineageId, key)))
  if (keys.length > 0) turn.emit({ type: 'idempotency-forgotten', lineageId, keys })
}

/**
 * Lineages that nothing can be spent by any more and whose windows have closed. Asked when a key is
 * made, which is when there come to be more of them.
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
  // The windows of a clock that was ahead are open until it is there again.
  if (counters.day >= utcDay(nowMs) || counters.month >= utcMonth(nowMs)) return false
  for (const key of state.keys.values()) {
    if (key.lineageId === lineageId && keyStatus(key, nowMs) !== 'revoked') return false
  }
  return true
}
