import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { EventType } from '../../../src/domain/event.js'
import type { IdempotencyRecord } from '../../../src/domain/idempotency.js'
import type { Address, GasWalletId, Hex, KeyId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Authorization, SponsoredKind, Sponsorship } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction, Transaction } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { SponsoredQuote } from '../../../src/valuation/sponsored-quote.js'
import type { OpenEntry } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { SponsoredDraft } from './sponsored-state.js'

/** The end of a call, once it is on disk. */
export interface RecordedEnd {
  readonly txId: TxId
  /** What holds its Idempotency-Key; null where it has none. */
  readonly runningKey: string | null
  /** Of the block in which it ended. */
  readonly blockHash: Hex | null
}

/** What of a sponsored call reaches a sub-wallet. */
export type SponsoredCommand =
  | SponsorCommand
  | PreparedSponsored
  | {
      readonly type: 'sponsored-screened'
      readonly txId: TxId
      readonly refusal: Fault | null
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** Of a call that waited, where screening lets it through: what it comes to now. */
      readonly anew?: SponsoredAnew
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
      /** The account's nonce on chain, when it is not the lane's. */
      readonly chainNonce: number | null
      readonly nowMs: number
    }
  | (SponsorUpdate & {
      /** The call, or the one that was to be cancelled, where it has ended and is not at hand. */
      readonly stored?: EndedCall | null
    })
  | {
      readonly type: 'delegation-checked'
      readonly chainId: number
      readonly delegated: boolean
      readonly chainNonce: number
      readonly nowMs: number
    }
  /** Of whoever looks for accounts that make no sponsored calls any more: end their delegations. */
  | {
      readonly type: 'undelegate'
      readonly chainId: number
      /** Since when there must have been none. */
      readonly idleSinceMs: number
    }
  | {
      readonly type: 'prepared-undelegate'
      readonly chainId: number
      readonly idleSinceMs: number
      /** As the chain has it; null where it was not asked, or did not answer. */
      readonly account: { readonly delegated: boolean; readonly chainNonce: number } | null
      readonly nowMs: number
    }
  | UndelegationUpdate
  | {
      readonly type: 'deadline-passed'
      readonly txId: TxId
      /** Whether a gas wallet's transaction carries the intent, as the store has it since. */
      readonly isCarried: boolean
      readonly nowMs: number
    }
  /** A gas wallet is to be asked once more for what it could not carry. */
  | { readonly type: 'job-rested'; readonly txId: TxId }
  /** What its Idempotency-Key stands for is on disk. */
  | ({ readonly type: 'end-recorded' } & RecordedEnd)
  /** Brings the actor into memory, where it goes on with what it finds. */
  | { readonly type: 'load' }
  /** Asks gas wallets again about everything under way. */
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
  readonly fingerprint: string
  /**
   * Present where what it names is forgotten by now, and with it its chain: it is answered as one that
   * came before under its Idempotency-Key, or refused with the fault of its quote.
   */
  readonly isForgotten?: true
}

/** The same, with what the decision needs from outside. */
export interface PreparedSponsored extends Omit<SponsorCommand, 'type'>, SponsoredAccount {
  readonly type: 'prepared-sponsor-call'
  readonly nowMs: number
  readonly first: { readonly record: IdempotencyRecord; readonly tx: Transaction } | null
}

/** What a call that waited comes to when it is judged anew. */
export interface SponsoredAnew extends SponsoredAccount {
  readonly quote: SponsoredQuote
}

interface SponsoredAccount {
  readonly delegated: boolean
  /** The account's nonce on chain; null for an account that is delegated. */
  readonly chainNonce: number | null
  /** What is held of the gas budget. */
  readonly gasMicros: UsdMicros
}

/**
 * The state of a job, sent by a gas wallet after every change. Each is the whole picture, so one
 * that comes twice or not at all does no harm.
 */
export interface SponsorUpdate {
  readonly type: 'sponsor-update'
  readonly txId: TxId
  /** The gas wallet's transaction; null when there is none and never will be. */
  readonly gas: AccountTransaction | null
  readonly flight: OpenEntry['flight'] | 'ended'
  /** Why there is none. */
  readonly refusal: JobRefusal | null
  /** Who tells. */
  readonly gasWalletId: GasWalletId
  /** The failed call that the job was to cancel; null for an execution. */
  readonly cancels: TxId | null
  readonly nowMs: number
}

/** How a gas wallet's transaction is doing that ends a delegation. */
export interface UndelegationUpdate {
  readonly type: 'undelegation-update'
  readonly txId: TxId
  readonly chainId: number
  /** `refused`: there is none and never will be. `over`: the chain has it, or never will. */
  readonly stage: 'refused' | 'open' | 'over'
  /** Height of its block; null while there is none. */
  readonly minedAt: number | null
}

/** One that was mined, as the store has it. */
export interface EndedCall {
  readonly tx: Transaction
  /** Of its intent; unix seconds by the block's clock. */
  readonly deadlineSeconds: number
}

/**
 * `gas-wallet`: it cannot carry the call now, and another one may. `call`: none could. Either way
 * it has signed nothing.
 */
export interface JobRefusal {
  readonly fault: Fault
  readonly of: 'gas-wallet' | 'call'
}

export interface SignedIntent {
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
  /** A draft of a call that waited holds something else from now on, and so does that call. */
  | {
      readonly type: 'sponsored-reserved-anew'
      readonly draft: SponsoredDraft
      readonly needsDelegation: boolean
    }
  /** A draft was given up: nothing of it is stored, and all of its spend is free again. */
  | { readonly type: 'sponsored-released'; readonly txId: TxId }
  /**
   * A stored intent was given up, and nothing carries it: its spend is free again, and no start may
   * find it and hand it over once more.
   */
  | {
      readonly type: 'sponsored-withdrawn'
      readonly txId: TxId
      /** The record of one that had waited; null: there is none. */
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
      /** The counted one that it takes; null of a call that waited, which has its own. */
      readonly intentNonce: number | null
    }
  | {
      readonly type: 'sponsored-handed'
      readonly sponsorship: Sponsorship
      /** The record of one that had waited; null: it has none yet. */
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
  | {
      readonly type: 'sponsored-ended'
      readonly tx: Transaction
      /** Set while the spend stays reserved until the deadline has passed. */
      readonly held: Sponsorship | null
      readonly paidGasMicros: UsdMicros
      readonly atMs: number
    }
  /** From now on the store tells how it ended, and what its Idempotency-Key stands for. */
  | ({ readonly type: 'sponsored-recorded' } & RecordedEnd)
  /** A gas wallet could not carry it; the sponsorship names the one that is asked next. */
  | { readonly type: 'sponsored-moved'; readonly sponsorship: Sponsorship }
  /** It is to be asked again later; and then it is. */
  | { readonly type: 'sponsored-resting'; readonly txId: TxId; readonly on: boolean }
  /** A failed intent's deadline has passed, or it was cancelled: nothing of it can leave any more. */
  | {
      readonly type: 'sponsored-expired'
      readonly tx: Transaction
      /** What the cancellation cost. */
      readonly paidGasMicros: UsdMicros
      readonly atMs: number
    }
  /** Its reservation counts again: it is in flight again, or, with the stage `held`, may yet be. */
  | {
      readonly type: 'sponsored-reopened'
      /** As it had ended. */
      readonly tx: Transaction
      readonly again: Transaction
      readonly sponsorship: Sponsorship
      readonly atMs: number
    }
  | { readonly type: 'delegation-wanted'; readonly chainId: number }
  | { readonly type: 'delegation-led'; readonly chainId: number; readonly txId: TxId }
  | {
      readonly type: 'delegation-ended'
      readonly chainId: number
      /** `undelegated`: it was, and is no longer. */
      readonly outcome: 'delegated' | 'not-delegated' | 'undelegated'
      readonly nextNonce: number | null
    }
  | { readonly type: 'delegation-ending'; readonly chainId: number; readonly atMs: number | null }

export type SponsoredEffect =
  | { readonly type: 'screen-sponsored'; readonly draft: SponsoredDraft }
  | {
      readonly type: 'sign-intent'
      readonly draft: SponsoredDraft
      /** As in `sponsored-signing`. */
      readonly intentNonce: number | null
      /** A new one at this nonce, one that exists already, or none. */
      readonly authorization: Authorization | { readonly nonce: number } | null
    }
  | { readonly type: 'submit-job'; readonly sponsorship: Sponsorship; readonly account: Address }
  | { readonly type: 'rest-job'; readonly txId: TxId; readonly delayMs: number }
  /** Says so once the commit with its end is on disk, as every effect that waits for it. */
  | ({ readonly type: 'tell-recorded' } & RecordedEnd)
  /** Ends a reverted intent on chain, so that its spend need not wait for the deadline. */
  | { readonly type: 'cancel-intent'; readonly sponsorship: Sponsorship; readonly account: Address }
  | {
      readonly type: 'check-delegation'
      readonly chainId: number
      readonly account: Address
      /** Height of the block with what may have changed it; null where nothing was mined. */
      readonly minedAt: number | null
    }
  /** Has an authorization of nobody signed at that nonce, and a gas wallet carry it. */
  | {
      readonly type: 'end-delegation'
      readonly chainId: number
      readonly account: Address
      readonly nonce: number
    }
  | {
      readonly type: 'await-deadline'
      readonly stage: 'handed' | 'held'
      readonly txId: TxId
      readonly chainId: number
      readonly deadlineSeconds: number
    }
