import type { ApiKey, KeyPatch } from '../../../src/domain/api-key.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Exposure } from '../../../src/domain/exposure.js'
import type { IdempotencyRecord } from '../../../src/domain/idempotency.js'
import type { Hex, KeyId, LineageId, TxId, UserId } from '../../../src/domain/ids.js'
import type { Reservation } from '../../../src/domain/spend.js'
import type {
  MinedIn,
  Place,
  Transaction,
  TxKind,
  TxStatus,
} from '../../../src/domain/transaction.js'
import type { LimitMark, SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { CallQuote, UnminedCall } from '../../../src/valuation/quoter.js'
import type { AllowancesRecorded, CreditsChanged } from './allowance-ledger.js'
import type { GrantCommand, GrantEffect, GrantEvent } from './grant-messages.js'
import type { SponsoredCommand, SponsoredEffect, SponsoredEvent } from './sponsored-messages.js'
import type { Draft, SignedBytes } from './state.js'

/** What reaches a sub-wallet: from the front end, from its own effects, from chain watchers. */
export type Command =
  | SponsoredCommand
  | GrantCommand
  /** Of an actor that was loaded: everything under way goes on. */
  | { readonly type: 'resume'; readonly nowMs: number }
  | ConsoleCommand
  | {
      readonly type: 'read-limits'
      readonly keyId: KeyId
      readonly nowMs: number
      /** A call whose spend depends on who paid for which allowance. */
      readonly forecast?: { readonly chainId: number; readonly exposure: Exposure }
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
      readonly nowMs: number
    }
  | {
      readonly type: 'signed'
      readonly txId: TxId
      readonly nonce: number
      readonly signed: SignedBytes
      readonly nowMs: number
    }
  | {
      readonly type: 'sign-failed'
      readonly txId: TxId
      readonly nonce: number
      readonly fault: Fault
      readonly nowMs: number
    }
  | {
      readonly type: 'nonce-taken'
      readonly txId: TxId
      readonly nonce: number
      readonly takenBy: Hex
      readonly nowMs: number
    }
  | {
      readonly type: 'broadcast-outcome'
      readonly txId: TxId
      readonly txHash: Hex
      readonly outcome: Outcome
      /** Height of the newest block that was known; null when none was. */
      readonly blockNumber: number | null
      readonly nowMs: number
    }
  | { readonly type: 'mined'; readonly txId: TxId; readonly mined: MinedIn; readonly nowMs: number }
  | {
      readonly type: 'confirmed'
      readonly txId: TxId
      readonly mined: MinedIn
      readonly nowMs: number
    }
  | {
      readonly type: 'unmined'
      readonly txId: TxId
      readonly stored: Transaction | null
      /** `stored` was read once everything decided before was on disk. */
      readonly isReadAgain?: true
      readonly nowMs: number
    }
  | HeadCommand
  | {
      readonly type: 'replacement-signed'
      readonly txId: TxId
      readonly nonce: number
      readonly purpose: ReplacePurpose
      readonly fees: Fees
      readonly signed: SignedBytes
      readonly nowMs: number
    }
  | { readonly type: 'replacement-failed'; readonly txId: TxId }
  | {
      readonly type: 'forget-idempotency'
      readonly lineageId: LineageId
      /** Idempotency-Keys whose records are older than they are kept. */
      readonly keys: readonly string[]
    }

/** `requestId` is for the audit trail. */
export type ConsoleCommand = (
  | { readonly type: 'create-wallet'; readonly wallet: SubWallet }
  | { readonly type: 'register-key'; readonly key: ApiKey }
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
) & { readonly requestId?: string | null }

/** Keys of a rotation: everything else is the predecessor's. */
export interface Successor {
  readonly keyId: KeyId
  readonly secretHash: string
  readonly secretPrefix: string
}

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A send as the front end authenticated and validated it. */
export interface SendCommand {
  readonly type: 'send'
  readonly txId: TxId
  readonly requestId: string
  readonly keyId: KeyId
  readonly kind: TxKind
  readonly chainId: number
  readonly to: `0x${string}`
  readonly value: bigint
  readonly data: Hex
  readonly proofKey: Uint8Array
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
}

/** The same, with what the decision needs from outside; made before the mailbox. */
export interface PreparedSend extends Omit<SendCommand, 'type'> {
  readonly type: 'prepared-send'
  readonly nowMs: number
  readonly requotes?: number
  readonly first: { readonly record: IdempotencyRecord; readonly tx: Transaction } | null
  readonly quote: CallQuote
  /** The account's nonce on chain; null when the lane knows its own. */
  readonly chainNonce: number | null
  /** Long calldata that screening refuses, known before it was valued. */
  readonly screened?: {
    readonly refusal: Fault
    readonly screenedAgainst: readonly ScreenedAgainst[]
  }
}

/** A new block of a chain on which the wallet has open transactions. */
export interface HeadCommand {
  readonly type: 'head'
  readonly chainId: number
  readonly blockNumber: number
  /** Fees that would be signed now; null when they are not known. */
  readonly fees: Fees | null
  /** Least maxFeePerGas with which the next block may take a transaction; null when not known. */
  readonly gasPriceWei: bigint | null
  /** The account's nonce in that block; null when it was not read. */
  readonly chainNonce: number | null
  /** Newest block that is deep enough below that one, all followed by parent hash; null when none is. */
  readonly finalBlock: Place | null
  readonly nowMs: number
}

/** `cancel`: nothing is sent to the wallet itself instead, so that the nonce is used up. */
export type ReplacePurpose = 'bump' | 'cancel'

/** A node's answer, as the classifier of `src/chains/rpc` put it. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** `mayBeOut`: the bytes were handed over, only the answer is missing. */
  | { readonly kind: 'unsure'; readonly mayBeOut: boolean }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'rejected'; readonly fault: Fault }
  /** The nonce is used on chain by a transaction that is none of this one's hashes. */
  | { readonly kind: 'nonce-lost'; readonly chainNonce: number }

/** Volatile events are not recorded; a restart forgets them and what they did. */
export type Event =
  | SponsoredEvent
  | GrantEvent
  | AllowancesRecorded
  | CreditsChanged
  | {
      readonly type: 'wallet-created'
      readonly wallet: SubWallet
      readonly requestId: string | null
    }
  | {
      readonly type: 'key-put'
      readonly key: ApiKey
      readonly change: 'registered' | 'rotated' | 'rotated-out' | 'revoked' | 'patched'
      readonly requestId: string | null
      readonly atMs: number
    }
  | {
      readonly type: 'idempotency-forgotten'
      readonly lineageId: LineageId
      readonly keys: readonly string[]
    }
  | { readonly type: 'lineages-forgotten'; readonly lineageIds: readonly LineageId[] }
  | { readonly type: 'reserved'; readonly draft: Draft }
  | { readonly type: 'released'; readonly txId: TxId }
  | {
      readonly type: 'queued'
      readonly txId: TxId
      /** Empty for what needs no screening: the service's own self-sends. */
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  /** It is to be valued anew: what it was valued after is no longer what will be mined before it. */
  | { readonly type: 'lined-up'; readonly txId: TxId; readonly first: boolean }
  | {
      readonly type: 'lane-synced'
      readonly chainId: number
      /** The lane's next nonce up to now; null when it was not known. */
      readonly before: number | null
      readonly nextNonce: number | null
      readonly window: number
    }
  | {
      readonly type: 'nonce-assigned'
      readonly txId: TxId
      readonly nonce: number
      readonly replaces: Hex | null
    }
  | { readonly type: 'signature-held'; readonly txId: TxId; readonly signed: SignedBytes }
  | { readonly type: 'signature-failed'; readonly txId: TxId; readonly fault: Fault }
  | { readonly type: 'lane-resequenced'; readonly chainId: number }
  | {
      readonly type: 'transaction-signed'
      readonly tx: Transaction
      readonly idempotency: Draft['idempotency']
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  | {
      readonly type: 'limit-reached'
      readonly keyId: KeyId
      readonly mark: LimitMark
      readonly usedMicros: bigint
      readonly atMs: number
    }
  | { readonly type: 'sending'; readonly txId: TxId }
  | { readonly type: 'unsure'; readonly txId: TxId; readonly mayBeOut: boolean }
  /** A node refused what may be in another's pool. */
  | { readonly type: 'doubted'; readonly txId: TxId }
  /** The nonce of one that a block had already is said to be a stranger's. */
  | { readonly type: 'loss-doubted'; readonly txId: TxId }
  | { readonly type: 'underpriced'; readonly txId: TxId }
  | {
      readonly type: 'sent-again'
      readonly txId: TxId
      readonly blockNumber: number | null
      readonly atMs: number
    }
  /** Its age in blocks counts from there. */
  | { readonly type: 'ages-from'; readonly txId: TxId; readonly blockNumber: number }
  | { readonly type: 'nonce-lost'; readonly txId: TxId; readonly draft: Draft }
  | {
      readonly type: 'transaction-renonced'
      readonly txId: TxId
      readonly nonce: number
      readonly fees: Fees
      readonly signed: SignedBytes
    }
  | { readonly type: 'gaps-found'; readonly chainId: number; readonly nonces: readonly number[] }
  | { readonly type: 'final-block'; readonly chainId: number; readonly finalBlock: Place }
  | { readonly type: 'answered'; readonly txId: TxId }
  | {
      readonly type: 'transaction-broadcast'
      readonly txId: TxId
      readonly blockNumber: number | null
      readonly atMs: number
    }
  | {
      readonly type: 'transaction-mined'
      readonly txId: TxId
      readonly mined: MinedIn
      /** Of the bytes that landed; not the newest ones' where a lost nonce came back. */
      readonly nonce: number
      readonly atMs: number
    }
  | { readonly type: 'transaction-unmined'; readonly txId: TxId; readonly atMs: number }
  | { readonly type: 'transaction-reopened'; readonly tx: Transaction; readonly atMs: number }
  | {
      readonly type: 'transaction-ended'
      readonly txId: TxId
      readonly status: Extract<TxStatus, 'confirmed' | 'failed' | 'dropped'>
      readonly spentMicros: bigint
      readonly error: Transaction['error']
      readonly nonceFreed: boolean
      readonly atMs: number
    }
  | { readonly type: 'replacing'; readonly txId: TxId; readonly on: boolean }
  | {
      readonly type: 'transaction-replaced'
      readonly txId: TxId
      readonly purpose: ReplacePurpose
      readonly fees: Fees
      readonly signed: SignedBytes
      /** What it holds of the counters from now on: a higher fee may cost more. */
      readonly reservation: Reservation
    }

export type Effect =
  | SponsoredEffect
  | GrantEffect
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
      readonly type: 'broadcast'
      readonly tx: Transaction
      /** `all-nodes`: again, for what the first that took it may not have passed on. */
      readonly reach: 'first-node' | 'all-nodes'
      /** Below which nothing changes any more, as far as this process has followed the chain. */
      readonly finalBlock: Place | null
    }
  | { readonly type: 'watch'; readonly tx: Transaction }
  | { readonly type: 'unwatch'; readonly tx: Transaction }
  /** A reorg overtook the commit of its end: `unmined` again, with the record as it is then. */
  | { readonly type: 'read-again'; readonly txId: TxId }
  | {
      readonly type: 'replace'
      readonly tx: Transaction
      readonly purpose: ReplacePurpose
      /** Highest maxFeePerGas, wei, that the caps leave room for; null is any. */
      readonly feeCapWei: bigint | null
    }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  | {
      /** For the audit trail. */
      readonly type: 'refused'
      readonly userId: UserId
      readonly call: RefusedCall
      readonly fault: Fault
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }

/** What the audit trail keeps of a send that was refused; the calldata in outline only. */
export type RefusedCall = Pick<
  Draft,
  'txId' | 'keyId' | 'requestId' | 'chainId' | 'kind' | 'to' | 'value' | 'data'
>
