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

/**
 * The commands that a sub-wallet receives from the front end, from its own effects and from chain
 * watchers.
 */
export type Command =
  | SponsoredCommand
  | GrantCommand
  | CancelCommand
  | ApprovalCommand
  /** Sent to an actor that was just loaded: everything under way continues. */
  | { readonly type: 'resume'; readonly nowMs: number }
  | ConsoleCommand
  | {
      readonly type: 'read-limits'
      readonly keyId: KeyId
      readonly nowMs: number
      /** A call whose spend depends on the lineage that paid for an allowance. */
      readonly forecast?: { readonly chainId: number; readonly exposure: Exposure }
      /** A call for the key's policy to judge. */
      readonly judged?: CallToPredict
      /** Has the meaning that it has in `PreparedSend`. */
      readonly payees?: KnownPayees
    }
  | { readonly type: 'read-gas'; readonly nowMs: number }
  | SendCommand
  | PreparedSend
  | {
      readonly type: 'screened'
      readonly txId: TxId
      readonly refusal: Fault | null
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** The present value of the call; set when the chain or prices moved in the meantime. */
      readonly requoted: CallQuote | null
      /** The account's nonce on chain; read for a call that waited. */
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
      /** Idempotency-Keys whose records have expired. */
      readonly keys: readonly string[]
    }

/** A call that is only judged, and not sent. */
export interface CallToPredict {
  readonly kind: TxKind
  readonly call: Call
  /** The output of a swap or a withdrawal; absent when it is unknown. */
  readonly tokenOut?: Address
  /** A policy to try instead of the key's own, null for no policy; absent to use the key's own. */
  readonly policy?: Policy | null
  /** Micro-USD before credits; null when an asset has no price. */
  readonly spendMicros: UsdMicros | null
  /** The part of it that is gas. */
  readonly gasMicros: UsdMicros
  /** The same in wei, gas limit × highest fee; absent where nobody says. */
  readonly gasWei?: bigint
}

/** The effect of a mined call, according to its receipt. */
export interface ReceiptCommand {
  readonly type: 'receipt-valued'
  readonly txId: TxId
  /** The hash of the block that contains the receipt. */
  readonly blockHash: Hex
  /** The micro-USD that others received or may take. */
  readonly shownMicros: bigint
  /** Why a part could not be valued; null when all of it was. */
  readonly unvalued: string | null
  readonly nowMs: number
}

/** Requests of the console. `requestId` is recorded in the audit trail. */
export type ConsoleCommand = (
  | { readonly type: 'create-wallet'; readonly wallet: SubWallet }
  | { readonly type: 'register-key'; readonly key: ApiKey }
  | {
      readonly type: 'plan-sub-key'
      readonly key: ApiKey
      /** The key that makes the new key. */
      readonly madeBy: KeyId
      readonly nowMs: number
    }
  | {
      readonly type: 'rotate-key'
      readonly keyId: KeyId
      readonly successor: Successor
      /** The claim under which the identity provider accepted the successor. */
      readonly claimId: string
      readonly nowMs: number
    }
  | { readonly type: 'revoke-key'; readonly keyId: KeyId; readonly nowMs: number }
  | {
      readonly type: 'patch-key'
      readonly keyId: KeyId
      readonly patch: KeyPatch
      /**
       * The claim under which the identity provider accepted the enlargement; null when the patch
       * only restricts.
       */
      readonly claimId: string | null
      readonly nowMs: number
    }
) & {
  readonly requestId?: string | null
  /**
   * The person at the console, for the audit trail; absent when the request did not come from a
   * person.
   */
  readonly byPerson?: string | undefined
}

/** The new parts of a rotated key: everything else is the predecessor's. */
export interface Successor {
  readonly keyId: KeyId
  readonly secretHash: string
  readonly secretPrefix: string
}

/** A request to cancel a transaction that is signed and not mined. */
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
  /** Whether an identical recent call is refused even when the key's duplicate guard is off. */
  readonly guardsDuplicates: boolean
}

/** A send with the external data that the decision needs; prepared before it enters the mailbox. */
export interface PreparedSend extends Omit<SendCommand, 'type'> {
  readonly type: 'prepared-send'
  readonly nowMs: number
  readonly first: { readonly record: IdempotencyRecord; readonly tx: Transaction } | null
  readonly quote: CallQuote
  /** The account's nonce on chain; null when the lane knows its own. */
  readonly chainNonce: number | null
  /**
   * Whom the wallet has paid; set when the key's policy needs it and the actor does not know it.
   */
  readonly payees?: KnownPayees
  /** Set when screening refused the long calldata before the call was valued. */
  readonly screened?: {
    readonly refusal: Fault
    readonly screenedAgainst: readonly ScreenedAgainst[]
  }
}

/** Volatile events are not recorded; a restart forgets them and their effect. */
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
  /**
   * Volatile. Whom the wallet had paid according to the store, read when a policy needs it for the
   * first time.
   */
  | { readonly type: 'payees-read'; readonly payees: KnownPayees }
  | { readonly type: 'lineages-forgotten'; readonly lineageIds: readonly LineageId[] }
  /** Changes the counts of a lineage's breakers; volatile for refusals. */
  | {
      readonly type: 'breakers-counted'
      readonly lineageId: LineageId
      readonly of: WatchedOfKey['type']
      readonly tally: BreakerTally
    }
  /** The counts start again at zero. */
  | { readonly type: 'breaker-tripped'; readonly lineageId: LineageId }
  | { readonly type: 'reserved'; readonly draft: Draft }
  /** A draft that is being screened holds a different amount from now on. */
  | { readonly type: 'reserved-again'; readonly draft: Draft }
  | {
      readonly type: 'transaction-signed'
      readonly tx: Transaction
      readonly idempotency: Draft['idempotency']
      readonly screenedAgainst: readonly ScreenedAgainst[]
      /** The basis of its valuation, for its verdict; null when that is no longer known. */
      readonly basis: QuoteBasis | null
    }
  | {
      readonly type: 'limit-reached'
      readonly keyId: KeyId
      readonly mark: LimitMark
      readonly usedMicros: bigint
      readonly atMs: number
    }
  /** Changes the reservation of a transaction after a more expensive replacement. */
  | {
      readonly type: 'reservation-raised'
      readonly txId: TxId
      readonly reservation: Reservation
      /** What the higher fee takes of ceilings of native coin, wei; 0 without such a ceiling. */
      readonly extraWei: bigint
      readonly atMs: number
    }
  /** Volatile. `confirmed` has the meaning that it has in `ReceiptWait`. */
  | {
      readonly type: 'receipt-asked'
      readonly txId: TxId
      readonly blockHash: Hex
      readonly confirmed: MinedIn | null
    }
  /** The receipt shows this much more than the call was valued at; volatile when that is 0. */
  | { readonly type: 'receipt-valued'; readonly txId: TxId; readonly beyondMicros: bigint }
  /** The block is gone, and with it what its receipt showed; volatile when that is 0. */
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
      /**
       * The calls that come before it now; null for a plain transfer, which no earlier call
       * changes.
       */
      readonly unmined: readonly UnminedCall[] | null
      /** Whether it is valued again in any case. */
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
      /** The highest maxFeePerGas, wei, that the caps leave room for; null means no limit. */
      readonly feeCapWei: bigint | null
    }
  | { readonly type: 'value-receipt'; readonly tx: Transaction; readonly mined: MinedIn }
  /** Recorded in the audit trail. */
  | { readonly type: 'unvalued'; readonly tx: Transaction; readonly reason: string }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  /** Freezes the key with its lineage. */
  | {
      readonly type: 'trip'
      readonly userId: UserId
      readonly subWalletId: SubWalletId
      readonly lineageId: LineageId
      readonly keyId: KeyId
      /** The request of the call that tripped the breaker. */
      readonly requestId: string
      readonly reason: string
      readonly nowMs: number
    }
  /** Reported to the user's breakers. */
  | {
      readonly type: 'watched'
      readonly userId: UserId
      readonly keyId: KeyId
      readonly requestId: string
      readonly seen: Watched
    }
  | {
      /** Recorded in the audit trail. */
      readonly type: 'refused'
      readonly userId: UserId
      /** The wallet's address. */
      readonly from: Address
      readonly call: RefusedCall
      readonly fault: Fault
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }

/** The part of a refused call that the audit trail keeps, with only an outline of its calldata. */
export type RefusedCall = Pick<Draft, 'txId' | 'keyId' | 'requestId' | 'kind' | 'call'> & {
  /** The valuation before the refusal, so that the call can be judged again. */
  readonly quote?:
    | { readonly ok: true; readonly valuation: Valuation; readonly basis?: QuoteBasis }
    | { readonly ok: false }
  /** The same fields of a draft. */
  readonly valuation?: Valuation
  readonly basis?: QuoteBasis | null
  /** Set for a sponsored call whose terms were known. */
  readonly terms?: IntentTerms
  /** Present when the call was valued as if it had no calldata. */
  readonly screened?: unknown
}
