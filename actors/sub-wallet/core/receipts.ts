import type { Hex, TxId } from '../../../src/domain/ids.js'
import { isCancelledBy, type MinedIn, type Transaction } from '../../../src/domain/transaction.js'
import { decideAccount } from '../../account/core/decide.js'
import type { AccountCommand } from '../../account/core/messages.js'
import { limitsCrossed } from './limit-crossings.js'
import type { ReceiptCommand } from './messages.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * A contract can do more when its block is made than it did in the simulation. A call that is not a
 * plain transfer is therefore settled by its receipt once a block contains it: what others received
 * beyond the simulation counts too, even past the cap, in which case the window is used up. Earlier
 * counts stay, and the call does not end until its receipt was valued.
 */

type Of<T extends AccountCommand['type']> = Extract<AccountCommand, { type: T }>

export function callMined(turn: Turn, command: Of<'mined'>): void {
  forgetReceiptOf(turn, command.txId, command.mined.blockHash)
  decideAccount(turn, command)
  const tx = turn.state.open.get(command.txId)?.tx
  if (tx !== undefined && isOpenToReceipt(turn.state, tx, command.mined)) askOnce(turn, tx, null)
}

export function callConfirmed(turn: Turn, command: Of<'confirmed'>): void {
  const { txId, mined } = command
  const { state } = turn
  forgetReceiptOf(turn, txId, mined.blockHash)
  const before = state.open.get(txId)?.tx
  if (before === undefined || !isOpenToReceipt(state, before, mined)) {
    decideAccount(turn, command)
    return
  }
  if (before.mined?.blockHash !== mined.blockHash) {
    decideAccount(turn, { ...command, type: 'mined' })
  }
  const tx = state.open.get(txId)?.tx
  if (tx !== undefined) askOnce(turn, tx, mined)
}

export function receiptValued(turn: Turn, command: ReceiptCommand): void {
  const { txId, blockHash, shownMicros, unvalued, nowMs } = command
  const { state } = turn
  const tx = state.open.get(txId)?.tx
  const wait = state.receipts.get(txId)
  if (tx === undefined || wait?.blockHash !== blockHash || wait.isValued) return
  const beyondMicros = shownMicros - (tx.predictedMicros ?? 0n)
  turn.emit({ type: 'receipt-valued', txId, beyondMicros: beyondMicros > 0n ? beyondMicros : 0n })
  if (beyondMicros > 0n) {
    for (const event of limitsCrossed(state, tx.keyId, nowMs)) turn.emit(event)
  }
  if (unvalued !== null) turn.effect({ type: 'unvalued', tx, reason: unvalued })
  const { confirmed: mined } = wait
  if (mined !== null) decideAccount(turn, { type: 'confirmed', txId, mined, nowMs })
}

/**
 * Drops what a receipt showed when its block is gone.
 * @param blockHash the block that contains the transaction now; null when there is no such block
 */
export function forgetReceiptOf(turn: Turn, txId: TxId, blockHash: Hex | null): void {
  const { open, receipts } = turn.state
  const tx = open.get(txId)?.tx
  const wait = receipts.get(txId)
  if (tx === undefined || (tx.beyondMicros === undefined && wait === undefined)) return
  if ((wait?.blockHash ?? tx.mined?.blockHash) === blockHash) return
  turn.emit({ type: 'receipt-forgotten', txId, beyondMicros: tx.beyondMicros ?? 0n })
}

/**
 * Watches mined calls again after a restart, which forgets whether a receipt was valued and how
 * deep its block was.
 */
export function resumeReceipts(turn: Turn): void {
  for (const { tx } of turn.state.open.values()) {
    if (tx.mined !== null) turn.effect({ type: 'watch', tx })
  }
}

/**
 * Whether the receipt needs valuing. Plain transfers have nothing to show; after a restart they are
 * not recognised, so their receipts are valued too.
 */
function isOpenToReceipt(
  { requests, receipts }: SubWalletState,
  tx: Transaction,
  mined: MinedIn,
): boolean {
  if (requests.get(tx.txId)?.isPlain === true || mined.outcome !== 'success') return false
  if (isCancelledBy(tx, mined)) return false
  if (tx.mined?.blockHash !== mined.blockHash) return true
  const wait = receipts.get(tx.txId)
  return wait?.isValued !== true && tx.beyondMicros === undefined
}

function askOnce(turn: Turn, tx: Transaction, confirmed: MinedIn | null): void {
  const { txId, mined } = tx
  if (mined === null) return
  const { blockHash } = mined
  const known = turn.state.receipts.get(txId)
  const isAsked = known?.blockHash === blockHash
  if (isAsked && (confirmed === null || known?.confirmed !== null)) return
  turn.emit({ type: 'receipt-asked', txId, blockHash, confirmed })
  if (!isAsked) turn.effect({ type: 'value-receipt', tx, mined })
}
