import type { Address, Hex, SubWalletId, TxId } from '../../../src/domain/ids.js'
import type { Authorization, GasJob } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import type {
  AccountCommand,
  AccountEffect,
  AccountEvent,
  Ending,
  EndReadCommand,
  Fees,
  ReplacePurpose,
  UnminedCommand,
} from '../../account/core/messages.js'
import type { AccountDraft } from '../../account/core/state.js'
import type {
  JobRefusal,
  SponsorUpdate,
  UndelegationUpdate,
} from '../../sub-wallet/core/sponsored-messages.js'
import type { ServiceWallet } from './state.js'

export type GasWalletCommand =
  /** Makes the key unless it exists, and takes up what a restart interrupted. Answers `Opened`. */
  | {
      readonly type: 'open'
      /** Jobs whose last update sub-wallets may not have received before a crash. */
      readonly unreported?: { readonly jobs: readonly UnreportedJob[]; readonly nowMs: number }
    }
  | { readonly type: 'key-made'; readonly wallet: ServiceWallet | null }
  /** `others` is the number of further gas wallets to try when this one refuses. */
  | { readonly type: 'sponsor'; readonly job: GasJob; readonly others: number }
  | PreparedJob
  | (EndReadCommand & { readonly job: GasJob | null })
  | AccountCommand
  | UnminedCommand

export interface UnreportedJob {
  readonly job: GasJob
  readonly tx: AccountTransaction
}

export interface PreparedJob {
  readonly type: 'prepared-sponsor'
  readonly job: GasJob
  readonly others: number
  readonly quote: JobQuote
  /** The account's nonce on chain; null when the lane knows its own, or no node answered. */
  readonly chainNonce: number | null
  /**
   * The record of a job that has ended. `under-way`: the store showed the job as not ended when it
   * was read; its updates follow by themselves.
   */
  readonly past: AccountTransaction | 'under-way' | null
  readonly nowMs: number
}

export type JobQuote =
  | {
      readonly ok: true
      readonly gasLimit: bigint
      readonly fees: Fees
      /** The L1 data fee that the chain charges in addition, wei. */
      readonly l1FeeWei: bigint
      /** The gas wallet's balance, wei. */
      readonly balanceWei: bigint
    }
  | { readonly ok: false; readonly refusal: JobRefusal }

export interface Opened {
  readonly address: Address
}

export type GasWalletEvent =
  | AccountEvent
  | { readonly type: 'gas-wallet-opened'; readonly wallet: ServiceWallet }
  | { readonly type: 'job-taken'; readonly job: GasJob }
  /** The job may cost more from now on. */
  | { readonly type: 'job-raised'; readonly job: GasJob }
  | { readonly type: 'reserved'; readonly draft: AccountDraft }
  | { readonly type: 'transaction-signed'; readonly tx: AccountTransaction }
  | {
      readonly type: 'transaction-reopened'
      readonly tx: AccountTransaction
      readonly atMs: number
    }
  | (Ending & { readonly type: 'transaction-ended'; readonly txId: TxId })

export type GasWalletEffect =
  | AccountEffect
  | { readonly type: 'make-key' }
  | {
      readonly type: 'sign-job'
      readonly walletId: SubWalletId
      readonly draft: AccountDraft
      readonly nonce: number
      readonly replaces: Hex | null
      readonly authorization: Authorization | null
    }
  | {
      readonly type: 'replace-job'
      readonly walletId: SubWalletId
      readonly tx: AccountTransaction
      readonly purpose: ReplacePurpose
      /** The highest maxFeePerGas, wei, that the hold covers; null means no limit. */
      readonly feeCapWei: bigint | null
      readonly authorization: Authorization | null
    }
  | { readonly type: 'tell'; readonly subWalletId: SubWalletId; readonly update: JobUpdate }

export type JobUpdate = SponsorUpdate | UndelegationUpdate
