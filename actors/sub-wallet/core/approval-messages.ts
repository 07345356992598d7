import type {
  Approval,
  ApprovalDecision,
  AskedCall,
  GivenDecision,
} from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { QuoteName } from '../../../src/domain/idempotency.js'
import type { ApprovalId, Hex, KeyId, TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { Draft } from './state.js'

/** The commands that concern calls waiting for approval. */
export type ApprovalCommand =
  /** A call has passed its screening and is ready to be put before a person. */
  | {
      readonly type: 'approval-ready'
      readonly txId: TxId
      /** A 32-byte proof by the live API key, valid for this call only. */
      readonly keyProof: Hex
      readonly url: string | null
      /** The number of the user's waiting calls in all wallets, according to the store. */
      readonly userWaiting: number
      readonly nowMs: number
    }
  | {
      readonly type: 'approval-registered'
      readonly txId: TxId
      /** The term that the identity provider was notified of; a newer term is sent again. */
      readonly maxNativeWei: bigint
      readonly taken: boolean
      /**
       * Set when the identity provider will never accept the call; absent when another attempt may
       * succeed.
       */
      readonly refusal?: Fault
      readonly nowMs: number
    }
  | { readonly type: 'approvals-rested' }
  | DecideApproval
  | WithdrawCall
  /** A timer fired: a call has expired or may be signed now. */
  | { readonly type: 'approvals-due'; readonly atMs: number; readonly nowMs: number }

/** A decision as the identity provider verified it, or a decline with a console token. */
export interface DecideApproval {
  readonly type: 'decide-approval'
  readonly txId: TxId
  readonly decision: GivenDecision
  /** The term that was approved; a later term needs a new approval. Null for a decline. */
  readonly maxNativeWei: bigint | null
  readonly requestId: string | null
  readonly nowMs: number
}

/** Withdrawal of a call by a key of the lineage that made it. */
export interface WithdrawCall {
  readonly type: 'withdraw-call'
  readonly txId: TxId
  readonly keyId: KeyId
  readonly requestId: string
  readonly nowMs: number
}

/** All events except the last seven are durable. They carry the record in its new form. */
export type ApprovalEvent =
  | {
      readonly type: 'approval-requested'
      readonly tx: Transaction
      readonly approval: Approval
      readonly idempotency: Draft['idempotency']
      /** Absent when the call does not execute a quote. */
      readonly executes?: QuoteName | undefined
    }
  | { readonly type: 'approval-registered'; readonly approval: Approval }
  | {
      readonly type: 'approval-decided'
      readonly approval: Approval
      readonly decision: ApprovalDecision
      readonly requestId: string | null
    }
  | { readonly type: 'approval-approved'; readonly approval: Approval; readonly atMs: number }
  /** Binds the approval to a nonce before the quorum is called. */
  | { readonly type: 'approval-bound'; readonly approval: Approval }
  | {
      readonly type: 'approval-asked-again'
      readonly tx: Transaction
      readonly approval: Approval
      readonly atMs: number
    }
  | {
      readonly type: 'approval-ended'
      readonly tx: Transaction
      readonly approval: Approval
      readonly requestId: string | null
      readonly atMs: number
    }
  | {
      readonly type: 'approval-wanted'
      readonly txId: TxId
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  | { readonly type: 'approval-registering'; readonly txId: TxId | null }
  /** The attempt to register the call failed; other calls are tried first. */
  | { readonly type: 'approval-unregistered'; readonly txId: TxId }
  | { readonly type: 'approvals-resting'; readonly on: boolean; readonly failures: number }
  | { readonly type: 'approval-running'; readonly txId: TxId }
  | { readonly type: 'approval-rested'; readonly txId: TxId; readonly untilMs: number }
  /** The times for which a timer is set and has not fired yet. */
  | { readonly type: 'approvals-wake'; readonly wakesAtMs: readonly number[] }

export type ApprovalEffect =
  /**
   * Prepares the proof of the API key and the approval page before the call is stored; neither
   * could be made after a restart.
   */
  | {
      readonly type: 'ready-approval'
      readonly txId: TxId
      /** The call in the form that the person will see; the expiry is set later. */
      readonly asked: AskedCall
      readonly proofKey: Uint8Array | null
    }
  | {
      readonly type: 'register-approval'
      readonly tx: Transaction
      readonly approval: Approval
      readonly wallet: SubWallet
      /** The number of failed attempts so far. */
      readonly failures: number
    }
  | { readonly type: 'rest-approvals'; readonly delayMs: number }
  /**
   * Tells the identity provider that it may forget the call. It is sent once; the identity provider
   * also forgets expired calls by itself.
   */
  | {
      readonly type: 'forget-approval'
      readonly approvalId: ApprovalId
      readonly status: Approval['status']
    }
  | { readonly type: 'wake-approvals'; readonly atMs: number }
