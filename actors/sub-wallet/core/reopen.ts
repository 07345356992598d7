import type { Transaction } from '../../../src/domain/transaction.js'
import { endRead, unmined } from '../../account/core/decide-chain.js'
import type { EndReadCommand, UnminedCommand } from '../../account/core/messages.js'
import { useCredits } from './credits.js'
import { forgetReceiptOf } from './receipts.js'
import type { Turn } from './turn.js'

/** A reorg removed the call's block: it is in flight again. */
export function callUnmined(turn: Turn, command: UnminedCommand): void {
  forgetReceiptOf(turn, command.txId, null)
  unmined(turn, command)
}

/** Reopens a call that had ended: its reservation counts again. */
export function reopenEnded(turn: Turn, command: EndReadCommand<Transaction>): void {
  const stored = endRead(turn, command)
  if (stored === null) return
  turn.emit({ type: 'transaction-reopened', tx: stored, atMs: command.nowMs })
  // A failed call gave back the credits that it had used, and may succeed now.
  if (stored.status !== 'confirmed') useCredits(turn, stored)
  const reopened = turn.state.open.get(stored.txId)
  if (reopened !== undefined) turn.effect({ type: 'watch', tx: reopened.tx })
}
