import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { EventType } from '../../../src/domain/event-types.js'
import type { IdempotencyRecord, QuoteName } from '../../../src/domain/idempotency.js'
import type { Address, GasWalletId, Hex, KeyId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Authorization, SponsoredKind, Sponsorship } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction, Transaction } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { SponsoredQuote } from '../../../src/valuation/sponsored-quote.js'
import type { OpenEntry } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { JoinedCaller, SponsoredDraft } from './sponsored-state.js'

/** The end of a call, once it is on disk. */
export interface RecordedEnd {
  readonly txId: TxId
  /** Its Idempotency-Key and its quote. */
  readonly runningKeys: readonly string[]
  /** The block in which it ended. */
  readonly blockHash: Hex | null
}

/** The commands about sponsored calls that a sub-wallet receives. */
export type SponsoredCommand =
  | SponsorCommand
  | PreparedSponsored
  | {
      readonly type: 'sponsored-screened'
      readonly txId: TxId
      readonly refusal: Fault | null
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** The present valuation of a call that waited; set when screening lets it through. */
      readonly judgedAgain?: SponsoredJudgedAgain
      readonly nowMs: number
    }
  | {
      readonly type: 'intent-signed'
      readonly txId: TxId
      readonly signed: SignedIntent
      readonly nowMs: number
    }
  | {
      readonly type: 'intent-failed'
      readonly txId: TxId
      readonly fault: Fault
      /** The account's nonce on chain; set when it differs from the lane's. */
      readonly chainNonce: number | null
      readonly nowMs: number
    }
  | (SponsorUpdate & {
      /** The call, or the one that was to be cancelled, when it has ended and is not in memory. */
      readonly stored?: EndedCall | null
    })
  | {
      readonly type: 'delegation-checked'
      readonly chainId: number
      readonly delegated: boolean
      readonly chainNonce: number
      readonly nowMs: number
    }
  /** Sent by the sweep for accounts that no longer make sponsored calls: ends their delegation. */
  | {
      readonly type: 'undelegate'
      readonly chainId: number
      /** The time since which the account must have made no sponsored call. */
      readonly idleSinceMs: number
    }
  | {
      readonly type: 'prepared-undelegate'
      readonly chainId: number
      readonly idleSinceMs: number
      /** The account's state on chain; null when no node was asked or none answered. */
      readonly account: {
        readonly delegated: boolean
        readonly chainNonce: number
        /** The most that its transaction may cost, in wei and in micro-USD of the gas budgets. */
        readonly gasWei: bigint
        readonly gasMicros: UsdMicros
      } | null
      readonly nowMs: number
    }
  | UndelegationUpdate
  | {
      readonly type: 'deadline-passed'
      readonly txId: TxId
      /** Whether a gas wallet's transaction carries the intent, according to the store. */
      readonly isCarried: boolean
      readonly nowMs: number
    }
  /** Asks a gas wallet once more for a call that it could not carry. */
  | { readonly type: 'job-rested'; readonly txId: TxId }
  /** The end of the call and its running keys are on disk. */
  | ({ readonly type: 'end-recorded' } & RecordedEnd)
  /** Loads the actor, which resumes what is under way. */
  | { readonly type: 'load' }
  /** Asks gas wallets again about every call under way. */
  | { readonly type: 'resume-sponsored' }

/** A sponsored call as its operation valued and planned it. */
export interface SponsorCommand {
  readonly type: 'sponsor-call'
  readonly txId: TxId
  readonly requestId: string
  readonly keyId: KeyId
  readonly kind: SponsoredKind
  readonly chainId: number
  readonly router: Address
  readonly delegate: Address
  readonly quote: SponsoredQuote
  readonly proofKey: Uint8Array
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Has the meaning that it has in `SendCommand`. */
  readonly guardsDuplicates: boolean
  readonly fingerprint: string
  /** Absent when it executes no quote. */
  readonly executes?: QuoteName
  /**
   * Present when the quote is forgotten and its chain with it: the call is answered like an earlier
   * one with the same Idempotency-Key, or refused with the quote's fault.
   */
  readonly isForgotten?: true
}

/** A sponsored call with the external data that the decision needs. */
export interface PreparedSponsored extends Omit<SponsorCommand, 'type'>, SponsoredAccount {
  readonly type: 'prepared-sponsor-call'
  readonly nowMs: number
  readonly first: { readonly record: IdempotencyRecord; readonly tx: Transaction } | null
  /**
   * The transaction that executed its quote, when that is ended or stored, or null.
   */
  readonly executed: Transaction | null
}

/** The present valuation of a call that waited and is judged again. */
export interface SponsoredJudgedAgain extends SponsoredAccount {
  readonly quote: SponsoredQuote
}

interface SponsoredAccount {
  readonly delegated: boolean
  /** The account's nonce on chain; null for a delegated account. */
  readonly chainNonce: number | null
  /** The hold on the gas budgets until its gas wallet has estimated the gas. */
  readonly gasMicros: UsdMicros
}

/**
 * The state of a job, sent by a gas wallet after every change. Each message holds the whole state,
 * so a repeated or lost one does no harm.
 */
export interface SponsorUpdate {
  readonly type: 'sponsor-update'
  readonly txId: TxId
  /** The gas wallet's transaction; null when it has none and never will. */
  readonly gas: AccountTransaction | null
  readonly flight: OpenEntry['flight'] | 'ended'
  /** The reason why the gas wallet has no transaction. */
  readonly refusal: JobRefusal | null
  /** The gas wallet that reports. */
  readonly gasWalletId: GasWalletId
  /** The failed call that the job was to cancel; null for an execution. */
  readonly cancels: TxId | null
  /** The most that it may cost as it is signed, wei; absent when no budget holds it. */
  readonly heldWei?: bigint
  /** The cost at the fee that it now needs, wei, when that exceeds the hold. */
  readonly wantedWei?: bigint
  readonly nowMs: number
}

/** The progress of the gas wallet's transaction that ends a delegation. */
export interface UndelegationUpdate {
  readonly type: 'undelegation-update'
  readonly txId: TxId
  readonly chainId: number
  /**
   * `refused`: there is no transaction and never will be. `over`: the chain has it, or never will.
   */
  readonly stage: 'refused' | 'open' | 'over'
  /** The height of its block; null while it is not mined. */
  readonly minedAt: number | null
}

/** A mined call, as the store has it. */
export interface EndedCall {
  readonly tx: Transaction
  /** The intent's deadline, Unix seconds by the block's clock. */
  readonly deadlineSeconds: number
}

/**
 * `gas-wallet`: this gas wallet cannot carry the call now, and another may. `call`: none could.
 * Either way it has signed nothing.
 */
export interface JobRefusal {
  readonly fault: Fault
  readonly of: 'gas-wallet' | 'call'
  /**
   * The possible cost, wei, when that exceeds the hold; absent when the hold was not the reason.
   */
  readonly neededWei?: bigint
}

interface SignedIntent {
  readonly calldata: `0x${string}`
  readonly authorization: Authorization | null
  readonly deadlineSeconds: number
}

export type SponsoredEvent =
  | {
      readonly type: 'sponsored-reserved'
      readonly draft: SponsoredDraft
      readonly needsDelegation: boolean
      readonly token: ReplyToken | null
    }
  /** A draft of a call that waited, and the call itself, hold a different amount from now on. */
  | {
      readonly type: 'sponsored-reserved-again'
      readonly draft: SponsoredDraft
      readonly needsDelegation: boolean
    }
  /** A draft was given up: nothing of it is stored, and all of its spend is free again. */
  | { readonly type: 'sponsored-released'; readonly txId: TxId }
  /**
   * A stored intent was given up and nothing carries it: its spend is free again, and no restart
   * may hand it over once more.
   */
  | {
      readonly type: 'sponsored-withdrawn'
      readonly txId: TxId
      /** The record of a call that had waited; null for other calls. */
      readonly tx: Transaction | null
      readonly atMs: number
    }
  | {
      readonly type: 'sponsored-waiting'
      readonly txId: TxId
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  | {
      readonly type: 'sponsored-signing'
      readonly txId: TxId
      /** The intent nonce that it takes; null for a call that waited, which has its own. */
      readonly intentNonce: number | null
    }
  | {
      readonly type: 'sponsored-handed'
      readonly sponsorship: Sponsorship
      /** The record of a call that had waited; null while it has none. */
      readonly tx: Transaction | null
      readonly atMs: number
    }
  | {
      readonly type: 'sponsored-sent'
      readonly tx: Transaction
      readonly sponsorship: Sponsorship
      readonly screenedAgainst: readonly ScreenedAgainst[]
      readonly atMs: number
    }
  | {
      readonly type: 'sponsored-changed'
      readonly tx: Transaction
      readonly tells: EventType | null
    }
  | { readonly type: 'sponsored-answered'; readonly txId: TxId }
  /** A second execution of its quote waits for its record. */
  | { readonly type: 'sponsored-joined'; readonly txId: TxId; readonly caller: JoinedCaller }
  /** Those that waited have their answers. */
  | { readonly type: 'sponsored-joined-answered'; readonly txId: TxId }
  | {
      readonly type: 'sponsored-ended'
      readonly tx: Transaction
      /** Set while the spend stays reserved until the deadline has passed. */
      readonly held: Sponsorship | null
      readonly paidGasMicros: UsdMicros
      readonly atMs: number
    }
  /** The store has the end of the call and its running keys from now on. */
  | ({ readonly type: 'sponsored-recorded' } & RecordedEnd)
  /** A gas wallet could not carry the call; the sponsorship names the next one, or holds more. */
  | { readonly type: 'sponsored-moved'; readonly sponsorship: Sponsorship; readonly raised?: true }
  /** A failed call continues without its cancellation, which may have cost gas all the same. */
  | {
      readonly type: 'cancellation-failed'
      readonly sponsorship: Sponsorship
      readonly paidGasMicros: UsdMicros
      readonly atMs: number
    }
  /** The call waits before its next attempt (`on`), or the wait is over. */
  | { readonly type: 'sponsored-resting'; readonly txId: TxId; readonly on: boolean }
  /** A failed intent's deadline has passed or it was cancelled, so it can no longer be executed. */
  | {
      readonly type: 'sponsored-expired'
      readonly tx: Transaction
      /** The cost of the cancellation. */
      readonly paidGasMicros: UsdMicros
      readonly atMs: number
    }
  /**
   * Its reservation counts again: it is in flight again or, with the stage `held`, may still be
   * executed.
   */
  | {
      readonly type: 'sponsored-reopened'
      /** The record with its former end. */
      readonly tx: Transaction
      readonly again: Transaction
      readonly sponsorship: Sponsorship
      /** The gas that its block cost today, which is held again. */
      readonly takenBackMicros: UsdMicros
      readonly atMs: number
    }
  | { readonly type: 'delegation-wanted'; readonly chainId: number }
  | { readonly type: 'delegation-led'; readonly chainId: number; readonly txId: TxId }
  | {
      readonly type: 'delegation-ended'
      readonly chainId: number
      /** `undelegated`: the account was delegated and no longer is. */
      readonly outcome: 'delegated' | 'not-delegated' | 'undelegated'
      readonly nextNonce: number | null
    }
  | {
      readonly type: 'delegation-ending'
      readonly chainId: number
      readonly atMs: number | null
      /** Counted as the cost of its transaction; 0 when no transaction follows. */
      readonly gasMicros: UsdMicros
    }

export type SponsoredEffect =
  | { readonly type: 'screen-sponsored'; readonly draft: SponsoredDraft }
  | {
      readonly type: 'sign-intent'
      readonly draft: SponsoredDraft
      /** Has the meaning that it has in `sponsored-signing`. */
      readonly intentNonce: number | null
      /** A new authorization at this nonce, an existing one, or null for none. */
      readonly authorization: Authorization | { readonly nonce: number } | null
    }
  | { readonly type: 'submit-job'; readonly sponsorship: Sponsorship; readonly account: Address }
  | { readonly type: 'rest-job'; readonly txId: TxId; readonly delayMs: number }
  /** Reports the end once its commit is on disk; every effect waits for that. */
  | ({ readonly type: 'tell-recorded' } & RecordedEnd)
  /** Cancels a reverted intent on chain, so that its spend need not wait for the deadline. */
  | { readonly type: 'cancel-intent'; readonly sponsorship: Sponsorship; readonly account: Address }
  | {
      readonly type: 'check-delegation'
      readonly chainId: number
      readonly account: Address
      /** The height of the block that may have changed it; null when nothing was mined. */
      readonly minedAt: number | null
    }
  /**
   * Requests the signature of an authorization for the zero address at that nonce, and a gas wallet
   * to carry it.
   */
  | {
      readonly type: 'end-delegation'
      readonly chainId: number
      readonly account: Address
      readonly nonce: number
      /** The most that it may cost, wei. */
      readonly gasWei: bigint
    }
  | {
      readonly type: 'await-deadline'
      readonly stage: 'handed' | 'held'
      readonly txId: TxId
      readonly chainId: number
      readonly deadlineSeconds: number
    }
