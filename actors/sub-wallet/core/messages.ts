import type { ApiKey, KeyPatch } from '../../../src/domain/api-key.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Call } from '../../../src/domain/call.js'
import type { Exposure } from '../../../src/domain/exposure.js'
import type { IdempotencyRecord } from '../../../src/domain/idempotency.js'
import type {
  Address,
  Hex,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
} from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Reservation } from '../../../src/domain/spend.js'
import type { IntentTerms } from '../../../src/domain/sponsored-terms.js'
import type { MinedIn, Transaction, TxKind, Valuation } from '../../../src/domain/transaction.js'
import type { LimitMark, SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { BreakerTally, Watched as WatchedOfKey } from '../../../src/policy/breakers.js'
import type { Policy } from '../../../src/policy/policy.js'
import type { Watched } from '../../../src/policy/user-breakers.js'
import type { CallQuote, QuoteBasis, UnminedCall } from '../../../src/valuation/quoter.js'
import type {
  AccountCommand,
  AccountEffect,
  AccountEvent,
  Ending,
  EndReadCommand,
  ReplacePurpose,
  UnminedCommand,
} from '../../account/core/messages.js'
import type { AllowancesRecorded, CreditsChanged } from './allowance-ledger.js'
import type { ApprovalCommand, ApprovalEffect, ApprovalEvent } from './approval-messages.js'
import type { GrantCommand, GrantEffect, GrantEvent } from './grant-messages.js'
import type { KnownPayees } from './policy-ledgers.js'
import type { SponsoredCommand, SponsoredEffect, SponsoredEvent } from './sponsored-messages.js'
import type { Draft } from './state.js'

/** What reaches a sub-wallet: from the front end, from its own effects, from chain watchers. */
export type Command =
  | SponsoredCommand
  | GrantCommand
  | CancelCommand
  | ApprovalCommand
  /** Of an actor that was loaded: everything under way goes on. */
  | { readonly type: 'resume'; readonly nowMs: number }
  | ConsoleCommand
  | {
      readonly type: 'read-limits'
      readonly keyId: KeyId
      readonly nowMs: number
      /** A call whose spend depends on who paid for which allowance. */
      readonly forecast?: { readonly chainId: number; readonly exposure: Exposure }
      /** A call that the key's policy is to judge. */
      readonly judged?: CallToForesee
      /** As in `PreparedSend`. */
      readonly payees?: KnownPayees
    }
  | SendCommand
  | PreparedSend
  | {
      readonly type: 'screened'
      readonly txId: TxId
      readonly refusal: Fault | null
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** Set when chain or prices moved on meanwhile: what the call is worth now. */
      readonly requoted: CallQuote | null
      /** The account's nonce on chain; asked for a call that waited. */
      readonly chainNonce?: number | null
      readonly nowMs: number
    }
  | AccountCommand
  | UnminedCommand
  | EndReadCommand<Transaction>
  | ReceiptCommand
  | {
      readonly type: 'forget-idempotency'
      readonly lineageId: LineageId
      /** Idempotency-Keys whose records are older than they are kept. */
      readonly keys: readonly string[]
    }

/** A call that nobody sends yet. */
export interface CallToForesee {
  readonly kind: TxKind
  readonly call: Call
  /** Instead of the key's own, null for none; absent: its own. */
  readonly policy?: Policy | null
  /** Micro-USD without what credits change; null where something has no price. */
  readonly spendMicros: UsdMicros | null
  /** Of those, gas. */
  readonly gasMicros: UsdMicros
}

/** What a mined call did, as its receipt shows it. */
export interface ReceiptCommand {
  readonly type: 'receipt-valued'
  readonly txId: TxId
  /** Of the receipt. */
  readonly blockHash: Hex
  /** Others got so much, or were let take it. */
  readonly shownMicros: bigint
  /** Why some of it could not be counted; null: all of it was. */
  readonly unvalued: string | null
  readonly nowMs: number
}

/** `requestId` is for the audit trail. */
export type ConsoleCommand = (
  | { readonly type: 'create-wallet'; readonly wallet: SubWallet }
  | { readonly type: 'register-key'; readonly key: ApiKey }
  | {
      readonly type: 'plan-sub-key'
      readonly key: ApiKey
      /** The key that asks for it. */
      readonly madeBy: KeyId
      readonly nowMs: number
    }
  | {
      readonly type: 'rotate-key'
      readonly keyId: KeyId
      readonly successor: Successor
      /** Under which the identity provider took the successor. */
      readonly claimId: string
      readonly nowMs: number
    }
  | { readonly type: 'revoke-key'; readonly keyId: KeyId; readonly nowMs: number }
  | {
      readonly type: 'patch-key'
      readonly keyId: KeyId
      readonly patch: KeyPatch
      /** Under which the identity provider took the enlargement; null: it only takes away. */
      readonly claimId: string | null
      readonly nowMs: number
    }
) & {
  readonly requestId?: string | null
  /** Who asked at the console, for the audit trail; absent: nobody there. */
  readonly byPerson?: string | undefined
}

/** Keys of a rotation: everything else is the predecessor's. */
export interface Successor {
  readonly keyId: KeyId
  readonly secretHash: string
  readonly secretPrefix: string
}

/** The owner does not want a transaction any more that is signed and not mined. */
export interface CancelCommand {
  readonly type: 'cancel-transaction'
  readonly txId: TxId
  readonly nowMs: number
}

/** A send as the front end authenticated and validated it. */
export interface SendCommand {
  readonly type: 'send'
  readonly call: Call
  readonly txId: TxId
  readonly requestId: string
  readonly keyId: KeyId
  readonly kind: TxKind
  readonly proofKey: Uint8Array
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
}

/** The same, with what the decision needs from outside; made before the mailbox. */
export interface PreparedSend extends Omit<SendCommand, 'type'> {
  readonly type: 'prepared-send'
  readonly nowMs: number
  readonly first: { readonly record: IdempotencyRecord; readonly tx: Transaction } | null
  readonly quote: CallQuote
  /** The account's nonce on chain; null when the lane knows its own. */
  readonly chainNonce: number | null
  /** Whom the wallet has paid; set where its key's policy asks and the actor does not know. */
  readonly payees?: KnownPayees
  /** Long calldata that screening refuses, known before it was valued. */
  readonly screened?: {
    readonly refusal: Fault
    readonly screenedAgainst: readonly ScreenedAgainst[]
  }
}

/** Volatile events are not recorded; a restart forgets them and what they did. */
export type Event =
  | AccountEvent
  | SponsoredEvent
  | GrantEvent
  | ApprovalEvent
  | AllowancesRecorded
  | CreditsChanged
  | {
      readonly type: 'wallet-created'
      readonly wallet: SubWallet
      readonly requestId: string | null
      readonly byPerson?: string | undefined
    }
  | {
      readonly type: 'key-put'
      readonly key: ApiKey
      readonly change: 'registered' | 'rotated' | 'rotated-out' | 'revoked' | 'patched'
      readonly requestId: string | null
      readonly byPerson?: string | undefined
      readonly atMs: number
    }
  | {
      readonly type: 'idempotency-forgotten'
      readonly lineageId: LineageId
      readonly keys: readonly string[]
    }
  /** Volatile. Whom the wallet had paid, as the store says: asked once a policy wants to know. */
  | { readonly type: 'payees-read'; readonly payees: KnownPayees }
  | { readonly type: 'lineages-forgotten'; readonly lineageIds: readonly LineageId[] }
  /** What a lineage's breakers count; volatile of refusals. */
  | {
      readonly type: 'breakers-counted'
      readonly lineageId: LineageId
      readonly of: WatchedOfKey['type']
      readonly tally: BreakerTally
    }
  /** They begin anew. */
  | { readonly type: 'breaker-tripped'; readonly lineageId: LineageId }
  | { readonly type: 'reserved'; readonly draft: Draft }
  /** A draft that is being screened holds something else from now on. */
  | { readonly type: 'reserved-anew'; readonly draft: Draft }
  | {
      readonly type: 'transaction-signed'
      readonly tx: Transaction
      readonly idempotency: Draft['idempotency']
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** What it was valued by, for its verdict; null: not known any more. */
      readonly basis: QuoteBasis | null
    }
  | {
      readonly type: 'limit-reached'
      readonly keyId: KeyId
      readonly mark: LimitMark
      readonly usedMicros: bigint
      readonly atMs: number
    }
  /** What a more expensive replacement holds of the counters from now on. */
  | {
      readonly type: 'reservation-raised'
      readonly txId: TxId
      readonly reservation: Reservation
      readonly atMs: number
    }
  /** Volatile. `confirmed` as in `ReceiptWait`. */
  | {
      readonly type: 'receipt-asked'
      readonly txId: TxId
      readonly blockHash: Hex
      readonly confirmed: MinedIn | null
    }
  /** It shows so much beyond what the call was valued at; volatile where that is nothing. */
  | { readonly type: 'receipt-valued'; readonly txId: TxId; readonly beyondMicros: bigint }
  /** Its block is gone, and with it what the receipt showed beyond; as volatile as that. */
  | { readonly type: 'receipt-forgotten'; readonly txId: TxId; readonly beyondMicros: bigint }
  | { readonly type: 'transaction-reopened'; readonly tx: Transaction; readonly atMs: number }
  | (Ending & {
      readonly type: 'transaction-ended'
      readonly txId: TxId
      readonly spentMicros: bigint
    })

export type Effect =
  | AccountEffect
  | SponsoredEffect
  | GrantEffect
  | ApprovalEffect
  | {
      readonly type: 'screen'
      readonly userId: UserId
      readonly draft: Draft
      /** What comes before it now; null for a plain transfer, which nothing before it changes. */
      readonly unmined: readonly UnminedCall[] | null
      /** Whether it is valued anew in any case. */
      readonly revalues: boolean
    }
  | {
      readonly type: 'sign'
      readonly draft: Draft
      readonly nonce: number
      readonly replaces: Hex | null
    }
  | {
      readonly type: 'replace'
      readonly tx: Transaction
      readonly purpose: ReplacePurpose
      /** Highest maxFeePerGas, wei, that the caps leave room for; null is any. */
      readonly feeCapWei: bigint | null
    }
  | { readonly type: 'value-receipt'; readonly tx: Transaction; readonly mined: MinedIn }
  /** For the audit trail. */
  | { readonly type: 'unvalued'; readonly tx: Transaction; readonly reason: string }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  /** Freezes the key, with its lineage. */
  | {
      readonly type: 'trip'
      readonly userId: UserId
      readonly subWalletId: SubWalletId
      readonly lineageId: LineageId
      readonly keyId: KeyId
      /** Of the call that tripped it. */
      readonly requestId: string
      readonly reason: string
      readonly nowMs: number
    }
  /** For the breakers of the user. */
  | {
      readonly type: 'watched'
      readonly userId: UserId
      readonly keyId: KeyId
      readonly requestId: string
      readonly seen: Watched
    }
  | {
      /** For the audit trail. */
      readonly type: 'refused'
      readonly userId: UserId
      /** The wallet's. */
      readonly from: Address
      readonly call: RefusedCall
      readonly fault: Fault
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }

/** What the audit trail keeps of a send that was refused; the calldata in outline only. */
export type RefusedCall = Pick<Draft, 'txId' | 'keyId' | 'requestId' | 'kind' | 'call'> & {
  /** Of what was valued before it was refused, so that it can be judged once more. */
  readonly quote?:
    | { readonly ok: true; readonly valuation: Valuation; readonly basis?: QuoteBasis }
    | { readonly ok: false }
  /** The same of a draft. */
  readonly valuation?: Valuation
  readonly basis?: QuoteBasis | null
  /** Of a sponsored call whose terms were there. */
  readonly terms?: IntentTerms
  /** Present where it was valued as if it came without its calldata. */
  readonly screened?: unknown
}
