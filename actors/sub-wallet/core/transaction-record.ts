import type { CreditUse } from '../../../src/domain/allowance.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { tokenMoveOf } from '../../../src/domain/erc20-transfer.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import {
  isCancelledBy,
  type MinedIn,
  NO_NONCE,
  type SignedAttempt,
  type Transaction,
} from '../../../src/domain/transaction.js'
import type { UnitsTaken } from '../../../src/policy/ceilings.js'
import { shownPayeesOf } from '../../../src/policy/payees.js'
import type { Recipient } from '../../../src/valuation/quoter.js'
import type { DraftEntry } from '../../account/core/state.js'
import { usesToStore } from './credits.js'
import type { Draft, SubWalletState } from './state.js'

const NO_CREDITS: readonly CreditUse[] = []
const NO_UNITS: readonly UnitsTaken[] = []
const NOBODY: readonly Recipient[] = []

/** The stored record of a draft with its signed bytes. */
export function recordOf(
  state: SubWalletState,
  { draft, nonce, signed }: DraftEntry<Draft>,
  nowMs: number,
): Transaction {
  if (signed === null) throw new Error(`${draft.txId} was stored unsigned`)
  const { intentId, rawTransaction, txHash, signedAtMs } = signed
  const { maxFeePerGas, maxPriorityFeePerGas, paid = null, basis, counted } = draft
  const predictedMicros = basis?.predictedMicros ?? 0n
  const credits = paid === null ? NO_CREDITS : usesToStore(state, draft.call.chainId, paid.uses)
  const attempt = {
    txHash,
    rawTransaction,
    maxFeePerGas,
    maxPriorityFeePerGas,
    intentId,
    signedAtMs,
  }
  const tx = recordAs('signed', state, draft, nonce, [attempt], nowMs)
  const unitsTaken = counted?.taken ?? NO_UNITS
  const waited = draft.approval === undefined ? undefined : state.waiting.byTx.get(draft.txId)?.tx
  // The fields are added one by one: a spread would give each record a hidden class of its own for
  // life.
  if (waited?.approval !== undefined) {
    tx.approval = waited.approval
    tx.createdAtMs = waited.createdAtMs
  }
  if (unitsTaken.length > 0) tx.unitsTaken = unitsTaken
  if (credits.length > 0) tx.credits = credits
  if (predictedMicros !== 0n) tx.predictedMicros = predictedMicros
  const shownPayees = shownPayeesOf(draft, basis?.recipients ?? NOBODY)
  if (shownPayees.length > 0) tx.shownPayees = shownPayees
  return tx
}

/** The stored record of a call that waits for approval; it has no nonce and no bytes yet. */
export function waitingRecord(
  state: SubWalletState,
  draft: RecordedDraft,
  nowMs: number,
): Transaction {
  return recordAs('awaiting_approval', state, draft, NO_NONCE, [], nowMs)
}

type RecordInMaking = { -readonly [Field in keyof Transaction]: Transaction[Field] }

type RecordedDraft = Pick<
  Draft,
  | 'txId'
  | 'keyId'
  | 'lineageId'
  | 'requestId'
  | 'kind'
  | 'call'
  | 'gasLimit'
  | 'valuation'
  | 'reservation'
  | 'createdAtMs'
>

function recordAs(
  status: 'signed' | 'awaiting_approval',
  { wallet }: SubWalletState,
  draft: RecordedDraft,
  nonce: number,
  attempts: readonly SignedAttempt[],
  nowMs: number,
): RecordInMaking {
  if (wallet === null) throw new Error(`${draft.txId} has no wallet`)
  return {
    txId: draft.txId,
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    keyId: draft.keyId,
    lineageId: draft.lineageId,
    requestId: draft.requestId,
    kind: draft.kind,
    from: wallet.address,
    call: draft.call,
    nonce,
    gasLimit: draft.gasLimit,
    status,
    attempts,
    valuation: draft.valuation,
    reservation: draft.reservation,
    spentMicros: draft.reservation.micros,
    mined: null,
    error: null,
    createdAtMs: draft.createdAtMs,
    updatedAtMs: nowMs,
    confirmedAtMs: null,
  }
}

/**
 * The micro-USD that a mined transaction has spent. One that failed or was given up releases its
 * value and keeps its gas. What its receipt showed beyond the value counts as well.
 */
export function spentBy(tx: Transaction, mined: MinedIn): bigint {
  const { outcome, feeWei } = mined
  const { nativePrice, nativePriceDecimals, valueMicros } = tx.valuation
  const gasMicros = valueUsdMicros(feeWei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  if (outcome !== 'success' || isCancelledBy(tx, mined)) return gasMicros
  // The token returned false instead of reverting: the transfer was mined and moved nothing.
  if (mined.isStill === true && movesOwnTokens(tx)) {
    return (tx.beyondMicros ?? 0n) + gasMicros
  }
  return valueMicros + (tx.beyondMicros ?? 0n) + gasMicros
}

/** Whether the call is the wallet's own `transfer` or `transferFrom`, which moves only tokens. */
function movesOwnTokens({ from, call: { value, data } }: Transaction): boolean {
  return value === 0n && tokenMoveOf(from, data)?.payer === from.toLowerCase()
}
