import type { UnitsTaken } from '../policy/ceilings.js'
import type { CreditUse } from './allowance.js'
import type { Call } from './call.js'
import type { Execution } from './execution.js'
import type {
  Address,
  ApprovalId,
  Hex,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
} from './ids.js'
import type { UsdMicros } from './money.js'
import type { Reservation } from './spend.js'

/**
 * signed → broadcast → confirmed | failed, or dropped (the chain will never take it). A reorg
 * moves a mined transaction back to broadcast. What a policy sends to a person begins as
 * awaiting_approval, and may end as declined, expired or withdrawn.
 */
export type TxStatus =
  | 'awaiting_approval'
  | 'signed'
  | 'broadcast'
  | 'confirmed'
  | 'failed'
  | 'dropped'
  | UnapprovedEnd
/** How a call ends that was never let through. */
export type UnapprovedEnd = 'declined' | 'expired' | 'withdrawn'
export type TxKind = 'send' | 'swap' | 'defi_deposit' | 'defi_withdraw' | 'gas_swap'

export function isFinal(status: TxStatus): boolean {
  switch (status) {
    case 'awaiting_approval':
    case 'signed':
    case 'broadcast':
      return false
    default:
      return true
  }
}

/** False of what nobody approved, or that was refused once it was: no signature of it is anywhere. */
export function wasLetThrough({
  status,
  attempts,
}: Pick<Transaction, 'status' | 'attempts'>): boolean {
  switch (status) {
    case 'awaiting_approval':
    case 'declined':
    case 'expired':
    case 'withdrawn':
      return false
    case 'dropped':
      return attempts.length > 0
    default:
      return true
  }
}

/** One set of signed bytes at the transaction's nonce; a fee bump adds another. */
export interface SignedAttempt {
  readonly txHash: Hex
  readonly rawTransaction: Hex
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Hex; names this approval when a replacement is asked for. */
  readonly intentId: Hex
  readonly signedAtMs: number
  /** Present when these bytes send nothing to the wallet itself, to end the transaction. */
  readonly cancels?: true
}

/** In place of the nonce of what was never given one. */
export const NO_NONCE = -1

/** Whom a call waits for, as its record shows it. */
export interface AskedApproval {
  readonly approvalId: ApprovalId
  /** Page of the identity provider; null where it has none. */
  readonly url: string | null
  /** By the policy's rule, or `default`. */
  readonly rule: string
  /** Distinct people; 0 where it only waits for its time. */
  readonly needed: number
  readonly expiresAtMs: number
  /** Before which it is not signed; null where it may be at once. */
  readonly runsAtMs: number | null
}

/** Where the chain has it; on reorg it becomes null again. */
export interface MinedIn {
  readonly txHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly outcome: 'success' | 'reverted'
  /** gasUsed × effectiveGasPrice, plus the L1 data fee where there is one. Wei. */
  readonly feeWei: bigint
  /** Present where the receipt has the event of an executed intent. */
  readonly executed?: Execution
}

/** A block that something of ours is in. */
export type BlockRef = Pick<MinedIn, 'blockNumber' | 'blockHash'>

/** How the spend was valued, kept so that settlement uses the same prices. */
export interface Valuation {
  /** What the call itself moves out, micro-USD, rounded up. */
  readonly valueMicros: UsdMicros
  /** Worst-case gas, micro-USD, rounded up. */
  readonly gasMicros: UsdMicros
  /** Price of one native coin, scaled by 10^nativePriceDecimals. */
  readonly nativePrice: bigint
  readonly nativePriceDecimals: number
}

/** What the nonces of an account know of a transaction, whoever asked for it. */
export interface AccountTransaction {
  readonly call: Call
  readonly txId: TxId
  readonly from: Address
  /** `NO_NONCE` before it has one. */
  readonly nonce: number
  readonly gasLimit: bigint
  readonly status: TxStatus
  /** Newest last; empty only of what waits for approval, or ended without. */
  readonly attempts: readonly SignedAttempt[]
  readonly mined: MinedIn | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly confirmedAtMs: number | null
}

/** The stored record of a sub-wallet's transaction. */
export interface Transaction extends AccountTransaction {
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly requestId: string
  readonly kind: TxKind
  readonly valuation: Valuation
  readonly reservation: Reservation
  /** Absent where it uses none, as nearly all. */
  readonly credits?: readonly CreditUse[]
  /**
   * What the logs of the run that it was valued by show others to get; a receipt that shows more
   * counts the more. Absent where they show nothing, and of plain transfers.
   */
  readonly foreseenMicros?: UsdMicros
  /** What it takes of the ceilings of its key's policy; absent where that is nothing. */
  readonly unitsTaken?: readonly UnitsTaken[]
  /** Present where its key's policy sent it to a person, or made it wait. */
  readonly approval?: AskedApproval
  /** By how much its receipt showed more, beyond the valuation; a part of `reservation`. */
  readonly beyondMicros?: UsdMicros
  /** Reserved until final, then what was really spent. */
  readonly spentMicros: UsdMicros
}

/** True when what landed at the nonce was the attempt that gives the transaction up. */
export function isCancelledBy(tx: AccountTransaction, { txHash }: MinedIn): boolean {
  return tx.attempts.some((attempt) => attempt.txHash === txHash && attempt.cancels === true)
}

/** The hash that counts: the mined one, else the newest. */
export function currentHash(tx: AccountTransaction): Hex {
  if (tx.mined !== null) return tx.mined.txHash
  const newest = tx.attempts.at(-1)
  if (newest === undefined) throw new Error(`${tx.txId} has no signed attempt`)
  return newest.txHash
}
