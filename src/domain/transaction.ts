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
 * signed → broadcast → confirmed | failed, or dropped (the chain will never take it). A reorg moves
 * a mined transaction back to broadcast. A call that a policy sends to a person starts as
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
/** How a call ends that was never approved. */
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

/**
 * False for a call that nobody approved, or that was refused after its approval: no signature of it
 * exists.
 */
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

/**
 * Whether it was signed and ended without a block, since something else had used its nonce. Where nodes
 * were wrong, or a deep reorg follows, it may be mined after all.
 */
export function wasGivenUp({
  status,
  attempts,
  mined,
}: Pick<AccountTransaction, 'status' | 'attempts' | 'mined'>): boolean {
  return status === 'dropped' && mined === null && attempts.length > 0
}

/** One set of signed bytes at the transaction's nonce; a fee bump adds another. */
export interface SignedAttempt {
  readonly txHash: Hex
  readonly rawTransaction: Hex
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Hex; names this approval when a replacement is requested. */
  readonly intentId: Hex
  readonly signedAtMs: number
  /** Present when these bytes are an empty self-send that ends the transaction. */
  readonly cancels?: true
}

/** Stands for the nonce of a transaction that was never given one. */
export const NO_NONCE = -1

/** The approval that a call waits for, in the form that its record shows. */
export interface AskedApproval {
  readonly approvalId: ApprovalId
  /** The page of the identity provider; null when it has no page. */
  readonly url: string | null
  /** The policy's rule, or `default`. */
  readonly rule: string
  /** The number of distinct people; 0 when it only waits for its delay. */
  readonly needed: number
  readonly expiresAtMs: number
  /** The earliest time of its signature; null when there is no delay. */
  readonly runsAtMs: number | null
}

/** The block that has it; null again after a reorg. */
export interface MinedIn {
  readonly txHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly outcome: 'success' | 'reverted'
  /** gasUsed × effectiveGasPrice, plus the L1 data fee where the chain has one. Wei. */
  readonly feeWei: bigint
  /** Present when the receipt has the event of an executed intent. */
  readonly executed?: Execution
  /** Present when the whole receipt shows no token leaving the sender. */
  readonly isStill?: true
}

/** A block that contains a transaction of ours. */
export type BlockRef = Pick<MinedIn, 'blockNumber' | 'blockHash'>

/** How the spend was valued, kept so that settlement uses the same prices. */
export interface Valuation {
  /** The value that the call itself moves out, micro-USD, rounded up. */
  readonly valueMicros: UsdMicros
  /** Worst-case gas, micro-USD, rounded up. */
  readonly gasMicros: UsdMicros
  /** The price of one native coin, scaled by 10^nativePriceDecimals. */
  readonly nativePrice: bigint
  readonly nativePriceDecimals: number
}

/** The part of a transaction that an account's nonces need, whatever made it. */
export interface AccountTransaction {
  readonly call: Call
  readonly txId: TxId
  readonly from: Address
  /** `NO_NONCE` before it has one. */
  readonly nonce: number
  readonly gasLimit: bigint
  readonly status: TxStatus
  /** Newest last; empty only for a call that waits for approval or ended without it. */
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
  /** Absent when it uses none, as nearly all. */
  readonly credits?: readonly CreditUse[]
  /**
   * What others receive according to the logs of its simulation; a receipt that shows more counts
   * the difference. Absent when they show nothing, and for plain transfers.
   */
  readonly predictedMicros?: UsdMicros
  /**
   * Lower-case addresses that the simulation of a send showed to be paid or allowed to spend, besides those that
   * its bytes name. Absent when it showed none, and for plain transfers.
   */
  readonly shownPayees?: readonly Address[]
  /** The units that it takes of the ceilings of its key's policy; absent for nothing. */
  readonly unitsTaken?: readonly UnitsTaken[]
  /** Present when its key's policy required an approval or a delay. */
  readonly approval?: AskedApproval
  /** The micro-USD by which its receipt exceeded the valuation; part of `reservation`. */
  readonly beyondMicros?: UsdMicros
  /** Reserved until final, then the actual spend. */
  readonly spentMicros: UsdMicros
}

/** True when the mined attempt is the one that cancels the transaction. */
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
