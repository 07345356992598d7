import type { Address, Hex, SubWalletId, TxId } from '../../../src/domain/ids.js'
import type { Authorization, GasJob } from '../../../src/domain/sponsorship.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { SubWallet } from '../../../src/domain/wallet.js'
import type {
  Fees,
  ReplacePurpose,
  Command as SubWalletCommand,
  Effect as SubWalletEffect,
  Event as SubWalletEvent,
} from '../../sub-wallet/core/messages.js'
import type { JobRefusal, SponsorNews } from '../../sub-wallet/core/sponsored-messages.js'
import type { Draft } from '../../sub-wallet/core/state.js'

export type GasWalletCommand =
  /** Make the key if there is none, and take up what a restart interrupted. Answers `Opened`. */
  | { readonly type: 'open' }
  | { readonly type: 'key-made'; readonly wallet: SubWallet | null }
  /** `others` counts the gas wallets that may be asked when this one refuses. */
  | { readonly type: 'sponsor'; readonly job: GasJob; readonly others: number }
  | PreparedJob
  /** A reorg took back what was final. */
  | {
      readonly type: 'unmined-final'
      readonly txId: TxId
      readonly stored: Transaction
      readonly job: GasJob | null
      /** As of `unmined`. */
      readonly isReadAgain?: true
      readonly nowMs: number
    }
  | LaneCommand

/** What the lane's own effects and the chain watcher report; the lane is a sub-wallet's. */
export type LaneCommand = Extract<
  SubWalletCommand,
  {
    type:
      | 'signed'
      | 'sign-failed'
      | 'nonce-taken'
      | 'broadcast-outcome'
      | 'mined'
      | 'confirmed'
      | 'unmined'
      | 'head'
      | 'replacement-signed'
      | 'replacement-failed'
  }
>

export interface PreparedJob {
  readonly type: 'prepared-sponsor'
  readonly job: GasJob
  readonly others: number
  readonly quote: JobQuote
  /** The account's nonce on chain; null when the lane knows its own, or no node told. */
  readonly chainNonce: number | null
  /** The record of a job that has ended already. */
  readonly past: Transaction | null
  readonly nowMs: number
}

export type JobQuote =
  | {
      readonly ok: true
      readonly gasLimit: bigint
      readonly fees: Fees
      /** What the gas wallet holds, wei. */
      readonly balanceWei: bigint
    }
  | { readonly ok: false; readonly refusal: JobRefusal }

export interface Opened {
  readonly address: Address
}

export type GasWalletEvent =
  | SubWalletEvent
  | { readonly type: 'gas-wallet-opened'; readonly wallet: SubWallet }
  | { readonly type: 'job-taken'; readonly job: GasJob }

export type GasWalletEffect =
  | { readonly type: 'make-key' }
  | {
      readonly type: 'sign-job'
      readonly walletId: SubWalletId
      readonly draft: Draft
      readonly nonce: number
      readonly replaces: Hex | null
      readonly authorization: Authorization | null
    }
  | {
      readonly type: 'replace-job'
      readonly tx: Transaction
      readonly purpose: ReplacePurpose
      readonly authorization: Authorization | null
    }
  | { readonly type: 'tell'; readonly subWalletId: SubWalletId; readonly news: SponsorNews }
  | Extract<SubWalletEffect, { type: 'broadcast' | 'watch' | 'unwatch' | 'read-again' }>
