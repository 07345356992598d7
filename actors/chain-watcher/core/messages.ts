import type { BlockSummary } from '../../../src/chains/heads.js'
import type { Receipt } from '../../../src/chains/receipts.js'
import type { Address, GasWalletId, Hex, SubWalletId, TxId } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { Command as SubWalletCommand } from '../../sub-wallet/core/messages.js'

/** The account that sent a transaction and is told its outcome. */
export type Owner = SubWalletId | GasWalletId

export interface SeenBlock {
  readonly number: number
  readonly hash: Hex
}

/** The commands that the watcher of one chain receives. */
export type WatcherCommand =
  | { readonly type: 'start' }
  | WatchCommand
  | { readonly type: 'unwatch'; readonly txId: TxId }
  | GiveUpCommand
  /** The newest block a node showed; null when none answered. */
  | { readonly type: 'latest'; readonly block: BlockSummary | null; readonly nowMs: number }
  /** Blocks requested by number, oldest first; empty when a node could not give them. */
  | { readonly type: 'blocks'; readonly blocks: readonly BlockSummary[]; readonly nowMs: number }
  | {
      readonly type: 'receipts'
      readonly asked: readonly Hex[]
      /** Null: not mined. The whole list is null when no node answered. */
      readonly receipts: readonly (Receipt | null)[] | null
      readonly nowMs: number
    }
  /** The blocks at the heights to compare, as far as a node had them. */
  | { readonly type: 'checked'; readonly blocks: readonly SeenBlock[]; readonly nowMs: number }
  /** Transactions that ended in a block that is gone, in an earlier run of the process. */
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
  /** All hashes signed at the nonce so far; any of them may be mined. */
  readonly hashes: readonly Hex[]
  /** The block in which its owner has it as mined; null when it is not. */
  readonly mined: MinedIn | null
}

/** It is watched no more but for a block that has one of its hashes after all. */
export interface GiveUpCommand extends Omit<WatchCommand, 'type' | 'mined'> {
  readonly type: 'give-up'
  /** Of the block by which something else had used its nonce. */
  readonly height: number
}

export type WatcherEffect =
  /** Reads the newest block once this time has passed. */
  | { readonly type: 'poll'; readonly afterMs: number }
  | { readonly type: 'fetch-blocks'; readonly from: number; readonly to: number }
  /** Reads the blocks at these heights, because ours may be gone. */
  | { readonly type: 'check-blocks'; readonly numbers: readonly number[] }
  /** Reads from the store which transactions ended in a block that is gone. */
  | { readonly type: 'recall'; readonly block: BlockRef }
  | { readonly type: 'fetch-receipts'; readonly hashes: readonly Hex[] }
  | {
      readonly type: 'fetch-nonces'
      readonly accounts: readonly { readonly owner: Owner; readonly address: Address }[]
    }
  /** Updates the fee and price caches of every thread. */
  | { readonly type: 'announce'; readonly head: BlockSummary }
  | { readonly type: 'tell'; readonly owner: Owner; readonly command: ChainUpdate }

/**
 * Transactions that no reorg can reach are forgotten, so that a restart need not load them either.
 */
export interface WatcherEvent {
  readonly type: 'settled-forgotten'
  readonly chainId: number
  /** The height below which they are forgotten. */
  readonly below: number
}

export type ChainUpdate = Extract<
  SubWalletCommand,
  { type: 'mined' | 'confirmed' | 'unmined' | 'head' }
>
