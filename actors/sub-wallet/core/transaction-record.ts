import type { CreditUse } from '../../../src/domain/allowance.js'
import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import {
  isCancelledBy,
  type MinedIn,
  NO_NONCE,
  type SignedAttempt,
  type Transaction,
} from '../../../src/domain/transaction.js'
import type { UnitsTaken } from '../../../src/policy/ceilings.js'
import type { DraftEntry } from '../../account/core/state.js'
import { usesToStore } from './credits.js'
import type { Draft, SubWalletState } from './state.js'

const NO_CREDITS: readonly CreditUse[] = []
const NO_UNITS: readonly UnitsTaken[] = []

/** What is stored of a draft with its signed bytes. */
export function recordOf(
  state: SubWalletState,
  { draft, nonce, signed }: DraftEntry<Draft>,
  nowMs: number,
): Transaction {
  if (signed === null) throw new Error(`${draft.txId} was stored unsigned`)
  const { intentId, rawTransaction, txHash, signedAtMs } = signed
  const { maxFeePerGas, maxPriorityFeePerGas, paid = null, basis, counted } = draft
  const foreseenMicros = basis?.foreseenMicros ?? 0n
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
  // Added one by one: a spread would give each record a hidden class of its own, for all its life.
  if (waited?.approval !== undefined) {
    tx.approval = waited.approval
    tx.createdAtMs = waited.createdAtMs
  }
  if (unitsTaken.length > 0) tx.unitsTaken = unitsTaken
  if (credits.length > 0) tx.credits = credits
  if (foreseenMicros !== 0n) tx.foreseenMicros = foreseenMicros
  return tx
}

/** What is stored of a call that waits for approval; it has no nonce and no bytes yet. */
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
  if (wallet === null) throw new Error(`${draft.txId} is of no wallet`)
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
 * What failed, or was given up, releases its value and keeps the gas. What its receipt showed
 * beyond the value counts besides it.
 */
export function spentBy(tx: Transaction, mined: MinedIn): bigint {
  const { outcome, feeWei } = mined
  const { nativePrice, nativePriceDecimals, valueMicros } = tx.valuation
  const gasMicros = valueUsdMicros(feeWei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  if (outcome !== 'success' || isCancelledBy(tx, mined)) return gasMicros
  return valueMicros + (tx.beyondMicros ?? 0n) + gasMicros
}
