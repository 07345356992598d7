import type { BlockSummary } from '../../../src/chains/heads.js'
import type { Receipt } from '../../../src/chains/receipts.js'
import type { Address, GasWalletId, Hex, SubWalletId, TxId } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { Command as SubWalletCommand } from '../../sub-wallet/core/messages.js'

/** Who sent a transaction and hears what became of it. */
export type Owner = SubWalletId | GasWalletId

export interface SeenBlock {
  readonly number: number
  readonly hash: Hex
}

/** What reaches the watcher of one chain. */
export type WatcherCommand =
  | { readonly type: 'start' }
  | WatchCommand
  | { readonly type: 'unwatch'; readonly txId: TxId }
  /** The newest block a node showed; null when none answered. */
  | { readonly type: 'latest'; readonly block: BlockSummary | null; readonly nowMs: number }
  /** Blocks asked for by number, oldest first; empty when a node could not give them. */
  | { readonly type: 'blocks'; readonly blocks: readonly BlockSummary[]; readonly nowMs: number }
  | {
      readonly type: 'receipts'
      readonly asked: readonly Hex[]
      /** Null: not mined. The whole list is null when no node answered. */
      readonly receipts: readonly (Receipt | null)[] | null
      readonly nowMs: number
    }
  /** Blocks of the heights that were to be compared, as far as a node had them. */
  | { readonly type: 'checked'; readonly blocks: readonly SeenBlock[]; readonly nowMs: number }
  /** Ended in a block that is gone, in an earlier life of the process. */
  | {
      readonly type: 'recalled'
      readonly block: BlockRef
      readonly transactions: readonly WatchCommand[]
      readonly nowMs: number
    }
  | {
      readonly type: 'nonces'
      readonly nonces: readonly { readonly owner: Owner; readonly nonce: number }[]
      readonly nowMs: number
    }

export interface WatchCommand {
  readonly type: 'watch'
  readonly txId: TxId
  readonly owner: Owner
  readonly from: Address
  readonly nonce: number
  /** All hashes signed at the nonce so far; any of them may land. */
  readonly hashes: readonly Hex[]
  /** Where its owner believes it mined; null while it does not. */
  readonly mined: MinedIn | null
}

export type WatcherEffect =
  /** Ask for the newest block once this time has passed. */
  | { readonly type: 'poll'; readonly afterMs: number }
  | { readonly type: 'fetch-blocks'; readonly from: number; readonly to: number }
  /** Ask which blocks stand at these heights: ours may be gone. */
  | { readonly type: 'check-blocks'; readonly numbers: readonly number[] }
  /** Read from the store what ended in a block that is gone. */
  | { readonly type: 'recall'; readonly block: BlockRef }
  | { readonly type: 'fetch-receipts'; readonly hashes: readonly Hex[] }
  | {
      readonly type: 'fetch-nonces'
      readonly accounts: readonly { readonly owner: Owner; readonly address: Address }[]
    }
  /** Tells fee and price caches of every thread. */
  | { readonly type: 'announce'; readonly head: BlockSummary }
  | { readonly type: 'tell'; readonly owner: Owner; readonly command: ChainUpdate }

/** What no reorg reaches any more need not be known at a start either. */
export interface WatcherEvent {
  readonly type: 'settled-forgotten'
  readonly chainId: number
  /** Height. */
  readonly below: number
}

export type ChainUpdate = Extract<
  SubWalletCommand,
  { type: 'mined' | 'confirmed' | 'unmined' | 'head' }
>
