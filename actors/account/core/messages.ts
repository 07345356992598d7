import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Hex, TxId } from '../../../src/domain/ids.js'
import type {
  AccountTransaction,
  BlockRef,
  MinedIn,
  TxStatus,
} from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { AccountDraft, SignedBytes } from './state.js'

/** What an account hears from its own effects and from the watchers of its chains. */
export type AccountCommand =
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

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A new block of a chain on which the account has open transactions. */
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
  readonly finalBlock: BlockRef | null
  readonly nowMs: number
}

/** A reorg took a transaction's block. */
export interface UnminedCommand {
  readonly type: 'unmined'
  readonly txId: TxId
  readonly nowMs: number
}

/** What is stored of one that was unmined, and had ended here; `Tx` is its owner's record. */
export interface EndReadCommand<Tx extends AccountTransaction = AccountTransaction> {
  readonly type: 'end-read'
  readonly txId: TxId
  readonly stored: Tx | null
  readonly nowMs: number
}

/** `cancel`: nothing is sent to the account itself instead, so that the nonce is used up. */
export type ReplacePurpose = 'bump' | 'cancel'

/** A node's answer, as the classifier of `src/chains/rpc` put it. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** `maybeBroadcast`: the bytes were handed over, only the answer is missing. */
  | { readonly kind: 'indeterminate'; readonly maybeBroadcast: boolean }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'rejected'; readonly fault: Fault }
  /** The nonce is used on chain by a transaction that is none of this one's hashes. */
  | { readonly kind: 'nonce-lost'; readonly chainNonce: number }

/** How a transaction ends. */
export interface Ending {
  readonly status: Extract<TxStatus, 'confirmed' | 'failed' | 'dropped'>
  readonly error: AccountTransaction['error']
  readonly nonceFreed: boolean
  readonly atMs: number
}

/**
 * What happens to drafts on their way to a nonce. All of it is volatile: a restart forgets them,
 * and with them what they did.
 */
export type DraftEvent =
  | { readonly type: 'released'; readonly txId: TxId }
  | {
      readonly type: 'queued'
      readonly txId: TxId
      /** Empty for what needs no screening: the service's own calls. */
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  /** Its owner took it back out of the queue. */
  | { readonly type: 'lined-up'; readonly txId: TxId; readonly first: boolean }
  | {
      readonly type: 'nonce-assigned'
      readonly txId: TxId
      readonly nonce: number
      readonly replaces: Hex | null
    }
  | { readonly type: 'signature-held'; readonly txId: TxId; readonly signed: SignedBytes }
  | { readonly type: 'signature-failed'; readonly txId: TxId; readonly fault: Fault }
  | { readonly type: 'lane-resequenced'; readonly chainId: number }

/** How far a stored transaction has come with the nodes; volatile, as a restart asks them again. */
export type FlightEvent =
  | { readonly type: 'sending'; readonly txId: TxId }
  | { readonly type: 'indeterminate'; readonly txId: TxId; readonly maybeBroadcast: boolean }
  /** A node refused what may be in another's pool. */
  | { readonly type: 'refusal-disputed'; readonly txId: TxId }
  /** The nonce of one that a block had already is said to be a stranger's. */
  | { readonly type: 'loss-disputed'; readonly txId: TxId }
  | { readonly type: 'underpriced'; readonly txId: TxId }
  | {
      readonly type: 'sent-again'
      readonly txId: TxId
      readonly blockNumber: number | null
      readonly atMs: number
    }
  /** Its age in blocks counts from there. */
  | { readonly type: 'ages-from'; readonly txId: TxId; readonly blockNumber: number }
  | { readonly type: 'nonce-lost'; readonly txId: TxId; readonly draft: AccountDraft }
  | { readonly type: 'answered'; readonly txId: TxId }
  | { readonly type: 'replacing'; readonly txId: TxId; readonly on: boolean }
  /** How it ended is being read; and then it was. */
  | { readonly type: 'reading-end'; readonly txId: TxId; readonly on: boolean }
  | { readonly type: 'final-block'; readonly chainId: number; readonly finalBlock: BlockRef }

/** What changes the record of a transaction or of a lane. */
export type StoredEvent =
  | {
      readonly type: 'lane-synced'
      readonly chainId: number
      /** The lane's next nonce up to now; null when it was not known. */
      readonly before: number | null
      readonly nextNonce: number | null
      readonly window: number
    }
  | { readonly type: 'gaps-found'; readonly chainId: number; readonly nonces: readonly number[] }
  | {
      readonly type: 'transaction-renonced'
      readonly txId: TxId
      readonly nonce: number
      readonly fees: Fees
      readonly signed: SignedBytes
    }
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
  | {
      readonly type: 'transaction-replaced'
      readonly txId: TxId
      readonly purpose: ReplacePurpose
      readonly fees: Fees
      readonly signed: SignedBytes
    }

/**
 * All that the account says of itself. What makes a draft or a record, or ends one, its owner says,
 * who knows all of their fields: `reserved`, `transaction-signed`, `-reopened` and `-ended`.
 */
export type AccountEvent = DraftEvent | FlightEvent | StoredEvent

export type AccountEffect<Tx extends AccountTransaction = AccountTransaction> =
  | {
      readonly type: 'broadcast'
      readonly tx: Tx
      /** `all-nodes`: again, for what the first that took it may not have passed on. */
      readonly reach: 'first-node' | 'all-nodes'
      /** Below which nothing changes any more, as far as this process has followed the chain. */
      readonly finalBlock: BlockRef | null
    }
  | { readonly type: 'watch'; readonly tx: Tx }
  | { readonly type: 'unwatch'; readonly tx: Tx }
  /** Reads the record of one that has ended, once all that was decided of it is on disk. */
  | { readonly type: 'read-end'; readonly txId: TxId }
