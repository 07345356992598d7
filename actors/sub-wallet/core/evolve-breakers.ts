import { isLedgerEmpty, NO_POLICY_LEDGER } from '../../../src/policy/policy-ledger.js'
import type { Event } from './messages.js'
import { putLedger, removeLedger } from './policy-ledgers.js'
import type { SubWalletState } from './state.js'

/** Folds the counts of a lineage's breakers in place; see breaker-watch.ts. */
export function evolveBreakers(
  state: SubWalletState,
  event: Extract<Event, { type: 'breakers-counted' | 'breaker-tripped' }>,
): void {
  const { lineageId } = event
  if (event.type === 'breakers-counted' && event.of === 'refused') {
    state.refusals.set(lineageId, event.tally)
    return
  }
  const ledger = state.policyLedgers.get(lineageId)
  if (event.type === 'breaker-tripped') {
    state.refusals.delete(lineageId)
    if (ledger?.breakers === undefined) return
    const { breakers: _, ...kept } = ledger
    if (isLedgerEmpty(kept)) removeLedger(state, lineageId)
    else putLedger(state, lineageId, kept)
  } else {
    const { tally } = event
    putLedger(state, lineageId, { ...(ledger ?? NO_POLICY_LEDGER), breakers: tally })
  }
}
