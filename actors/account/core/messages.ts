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

/**
 * The commands that an account receives from its own effects and from the watchers of its chains.
 */
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
      /** The height of the newest known block; null when none was known. */
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
  /** The fees that would be signed now; null when unknown. */
  readonly fees: Fees | null
  /** The least maxFeePerGas with which the next block may take a transaction; null when unknown. */
  readonly gasPriceWei: bigint | null
  /** The account's nonce in that block; null when it was not read. */
  readonly chainNonce: number | null
  /**
   * The newest block that is deep enough below this one, with every block between them linked by
   * parent hash; null before the first such block.
   */
  readonly finalBlock: BlockRef | null
  readonly nowMs: number
}

/** A reorg removed a transaction's block. */
export interface UnminedCommand {
  readonly type: 'unmined'
  readonly txId: TxId
  readonly nowMs: number
}

/**
 * The stored record of an ended transaction that a reorg took back; `Tx` is the owner's record
 * type.
 */
export interface EndReadCommand<Tx extends AccountTransaction = AccountTransaction> {
  readonly type: 'end-read'
  readonly txId: TxId
  readonly stored: Tx | null
  readonly nowMs: number
}

/** `cancel`: an empty self-send takes its place, so that the nonce is used up. */
export type ReplacePurpose = 'bump' | 'cancel'

/** A node's answer, as the classifier in `src/chains/rpc` reports it. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** `maybeBroadcast`: the bytes were handed over, and only the answer is missing. */
  | { readonly kind: 'indeterminate'; readonly maybeBroadcast: boolean }
  | { readonly kind: 'underpriced' }
  /** Refused, with proof that no node ever held the bytes or that they can never be mined. */
  | { readonly kind: 'rejected'; readonly fault: Fault }
  /**
   * Every endpoint that was tried refused it, which proves nothing: a gateway may have passed the
   * bytes on.
   */
  | { readonly kind: 'refused' }
  /** The nonce is used on chain by a transaction that has none of this one's hashes. */
  | { readonly kind: 'nonce-lost'; readonly chainNonce: number }

/** The end of a transaction: its status, its error and whether its nonce is free again. */
export interface Ending {
  readonly status: Extract<TxStatus, 'confirmed' | 'failed' | 'dropped'>
  readonly error: AccountTransaction['error']
  readonly nonceFreed: boolean
  /**
   * Height of the block by which something else had used its nonce, for one whose bytes may be in
   * pools: a deep reorg, or nodes that were wrong, may let them be mined. Null of all else.
   */
  readonly givenUpAt: number | null
  readonly atMs: number
}

/**
 * Events of drafts on their way to a nonce. All are volatile: a restart forgets them and their
 * effect.
 */
export type DraftEvent =
  | { readonly type: 'released'; readonly txId: TxId }
  | {
      readonly type: 'queued'
      readonly txId: TxId
      /** Empty for the service's own calls, which need no screening. */
      readonly screenedAgainst: readonly ScreenedAgainst[]
    }
  /** The owner took the draft back out of the queue. */
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

/**
 * How far a stored transaction has come with the nodes; volatile, because a restart sends to the
 * nodes again.
 */
export type FlightEvent =
  | { readonly type: 'sending'; readonly txId: TxId }
  | { readonly type: 'indeterminate'; readonly txId: TxId; readonly maybeBroadcast: boolean }
  /** A node refused bytes that may be in another node's pool. */
  | { readonly type: 'refusal-disputed'; readonly txId: TxId }
  /** A node reports that a transaction not ours used the nonce of one that a block already had. */
  | { readonly type: 'loss-disputed'; readonly txId: TxId }
  | { readonly type: 'underpriced'; readonly txId: TxId }
  | {
      readonly type: 'sent-again'
      readonly txId: TxId
      readonly blockNumber: number | null
      readonly atMs: number
    }
  /** Its age in blocks counts from this block. */
  | { readonly type: 'ages-from'; readonly txId: TxId; readonly blockNumber: number }
  | { readonly type: 'nonce-lost'; readonly txId: TxId; readonly draft: AccountDraft }
  | { readonly type: 'answered'; readonly txId: TxId }
  | { readonly type: 'replacing'; readonly txId: TxId; readonly on: boolean }
  /** The record with its end is being read (`on`), or was. */
  | { readonly type: 'reading-end'; readonly txId: TxId; readonly on: boolean }
  | { readonly type: 'final-block'; readonly chainId: number; readonly finalBlock: BlockRef }

/** Events that change the record of a transaction or of a lane. */
export type StoredEvent =
  | {
      readonly type: 'lane-synced'
      readonly chainId: number
      /** The lane's former next nonce; null when it was unknown. */
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
      /**
       * The nonce of the bytes that were mined; it differs from the newest bytes' nonce when a lost
       * nonce came back.
       */
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
 * All events that the account emits itself. The owner emits those that make or end a draft or a
 * record, because it knows all of their fields: `reserved`, `transaction-signed`, `-reopened` and
 * `-ended`.
 */
export type AccountEvent = DraftEvent | FlightEvent | StoredEvent

export type AccountEffect<Tx extends AccountTransaction = AccountTransaction> =
  | {
      readonly type: 'broadcast'
      readonly tx: Tx
      /** `all-nodes`: sent again, because the first node that took it may not have passed it on. */
      readonly reach: 'first-node' | 'all-nodes'
      /** The block below which nothing changes, as far as this process has followed the chain. */
      readonly finalBlock: BlockRef | null
    }
  | { readonly type: 'watch'; readonly tx: Tx }
  | { readonly type: 'unwatch'; readonly tx: Tx }
  /** It ended, and its hashes stay on watch for some hundreds of blocks from that height on. */
  | { readonly type: 'give-up'; readonly tx: Tx; readonly height: number }
  /** Reads the record of an ended transaction, once all decisions about it are on disk. */
  | { readonly type: 'read-end'; readonly txId: TxId }
