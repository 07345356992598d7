import type { CountedCall } from '../policy/policy-ledger.js'
import type { QuoteName } from './idempotency.js'
import type { Address, GasWalletId, Hex, KeyId, LineageId, SubWalletId, TxId } from './ids.js'
import type { UsdMicros } from './money.js'
import type { Reservation } from './spend.js'
import type { AccountTransaction, AskedApproval, TxKind, Valuation } from './transaction.js'

/** Kinds of calls whose gas the service pays (CONTRACT.md, "Gas"). */
export type SponsoredKind = Exclude<TxKind, 'send'>

export function isSponsored(kind: TxKind): kind is SponsoredKind {
  return kind !== 'send'
}

/** A signed EIP-7702 authorization, bound to one chain and one nonce of the account. */
export interface Authorization {
  readonly chainId: number
  /** The delegate. */
  readonly address: Address
  readonly nonce: number
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
}

/** A co-signer's P-256 signature over an intent's digest, and the key that verifies it. */
export interface CoSignature {
  /** 65 bytes, 0x04 ‖ x ‖ y. */
  readonly publicKey: Uint8Array
  /** 64 bytes r ‖ s, low s. */
  readonly signature: Uint8Array
}

/**
 * A sponsored call whose intent carries both signatures. It is stored before a gas wallet receives
 * it, and for as long as the intent could be executed: until it succeeded, or until it failed and
 * its deadline has passed.
 */
export interface Sponsorship {
  readonly txId: TxId
  readonly subWalletId: SubWalletId
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly requestId: string
  readonly chainId: number
  readonly kind: SponsoredKind
  readonly router: Address
  /** The calldata of `AgentRouter.execute`, both signatures included. */
  readonly calldata: Hex
  /** Sent along when the account was not delegated yet. */
  readonly authorization: Authorization | null
  /** Unix seconds by the block's clock. */
  readonly deadlineSeconds: number
  readonly gasWalletId: GasWalletId
  readonly valuation: Valuation
  readonly reservation: Reservation
  /** Held of the gas budgets of its wallet and user, until a receipt shows the cost. */
  readonly gasMicros: UsdMicros
  /** The hold of its cancellation; absent unless one was requested. */
  readonly cancelMicros?: UsdMicros
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Absent when it executes no quote, or when it waited: its record is stored by then. */
  readonly executes?: QuoteName
  readonly createdAtMs: number
  /** Present when people were asked or it had a delay: it then has a record since its request. */
  readonly waited?: { readonly approval: AskedApproval; readonly createdAtMs: number }
  /** Absent when its key's policy counts nothing. */
  readonly counted?: CountedCall
  /**
   * handed: a gas wallet was asked. sent: it has signed; the transaction's record shows its state.
   * held: it failed, and the spend stays reserved until the deadline has passed.
   */
  readonly stage: 'handed' | 'sent' | 'held'
}

/** An account that pays the gas of sponsored calls on one chain. */
export interface GasWallet {
  readonly gasWalletId: GasWalletId
  readonly chainId: number
  /** The name of its key at the quorum. */
  readonly walletId: SubWalletId
  readonly address: Address
  readonly epoch: number
  /** The nonce after the last one with durable signed bytes; null until read from the chain. */
  readonly nextNonce: number | null
  /** Has the meaning that it has in `LaneMark`. */
  readonly ownFrom?: number
}

/** A job for a gas wallet. */
export interface GasJob {
  readonly txId: TxId
  readonly subWalletId: SubWalletId
  /** The lineage of the calling key, whose freeze stops the job; null when it ends a delegation. */
  readonly lineageId: LineageId | null
  readonly chainId: number
  /** The sub-wallet's address. */
  readonly account: Address
  /** The callee of the transaction; the account itself, without calldata, to end its delegation. */
  readonly router: Address
  readonly calldata: Hex
  readonly authorization: Authorization | null
  /** The failed call whose intent this ends on chain; null for an execution. */
  readonly cancels: TxId | null
  /** The bound on its cost; absent in jobs that are older than this bound. */
  readonly gas?: JobGas
}

/** The most that a gas wallet signs for a job. */
export interface JobGas {
  /** The highest gas limit. */
  readonly gasMax: bigint
  /** Held of the budgets for it, wei; null when the native coin has no price. */
  readonly heldWei: bigint | null
  /** The part of it that the chain charges for L1 data, whatever the fee. */
  readonly l1FeeWei: bigint
}

/** A gas wallet's transaction; `job` is null for one that only closes a gap in its nonces. */
export interface GasTransaction {
  readonly gasWalletId: GasWalletId
  /** The gas wallet's own transaction, with the gas wallet as `from`. */
  readonly tx: AccountTransaction
  readonly job: GasJob | null
}
