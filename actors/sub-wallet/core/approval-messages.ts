import type {
  Approval,
  ApprovalDecision,
  AskedCall,
  GivenDecision,
} from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { ApprovalId, Hex, KeyId, TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { Draft } from './state.js'

/** What waiting calls hear, what happens to them, and what they ask for. */
export type ApprovalCommand =
  /** What a person is to be asked for, once the call has passed its screening. */
  | {
      readonly type: 'approval-ready'
      readonly txId: TxId
      /** 32 bytes: of the live API key, over this call alone. */
      readonly keyProof: Hex
      readonly url: string | null
      /** Calls of the user that wait, in all wallets, as the store has them. */
      readonly userWaiting: number
      readonly nowMs: number
    }
  | {
      readonly type: 'approval-registered'
      readonly txId: TxId
      /** Of the term that was told; another one is told anew. */
      readonly maxNativeWei: bigint
      readonly taken: boolean
      /** Why the identity provider never takes it; absent where it may yet. */
      readonly refusal?: Fault
      readonly nowMs: number
    }
  | { readonly type: 'approvals-rested' }
  | DecideApproval
  | WithdrawCall
  /** The clock: something has expired, or may be signed now. */
  | { readonly type: 'approvals-due'; readonly atMs: number; readonly nowMs: number }

/** As the identity provider verified it, or a console token's decline. */
export interface DecideApproval {
  readonly type: 'decide-approval'
  readonly txId: TxId
  readonly decision: GivenDecision
  /** Of the term that was approved: asked again, people have another one. Null of a decline. */
  readonly maxNativeWei: bigint | null
  readonly requestId: string | null
  readonly nowMs: number
}

/** By a key of the lineage that asked for it. */
export interface WithdrawCall {
  readonly type: 'withdraw-call'
  readonly txId: TxId
  readonly keyId: KeyId
  readonly requestId: string
  readonly nowMs: number
}

/** All but the last seven are durable. They carry the record as it is from then on. */
export type ApprovalEvent =
  | {
      readonly type: 'approval-requested'
      readonly tx: Transaction
      readonly approval: Approval
      readonly idempotency: Draft['idempotency']
    }
  | { readonly type: 'approval-registered'; readonly approval: Approval }
  | {
      readonly type: 'approval-decided'
      readonly approval: Approval
      readonly decision: ApprovalDecision
      readonly requestId: string | null
    }
  | { readonly type: 'approval-approved'; readonly approval: Approval; readonly atMs: number }
  /** Its nonce, before the quorum is asked. */
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
  /** The attempt came to nothing: others come first now. */
  | { readonly type: 'approval-unregistered'; readonly txId: TxId }
  | { readonly type: 'approvals-resting'; readonly on: boolean; readonly failures: number }
  | { readonly type: 'approval-running'; readonly txId: TxId }
  | { readonly type: 'approval-rested'; readonly txId: TxId; readonly untilMs: number }
  /** Looks that the clock was asked for and has yet to bring. */
  | { readonly type: 'approvals-wake'; readonly wakesAtMs: readonly number[] }

export type ApprovalEffect =
  /** Its proof of the API key and its page, before it is stored: after a restart nobody has them. */
  | {
      readonly type: 'ready-approval'
      readonly txId: TxId
      /** As it will be asked about; when it expires is decided later. */
      readonly asked: AskedCall
      readonly proofKey: Uint8Array | null
    }
  | {
      readonly type: 'register-approval'
      readonly tx: Transaction
      readonly approval: Approval
      readonly wallet: SubWallet
      /** Attempts that failed before. */
      readonly failures: number
    }
  | { readonly type: 'rest-approvals'; readonly delayMs: number }
  /** The identity provider need not keep it any more; told once, and it forgets by itself. */
  | {
      readonly type: 'forget-approval'
      readonly approvalId: ApprovalId
      readonly status: Approval['status']
    }
  | { readonly type: 'wake-approvals'; readonly atMs: number }
