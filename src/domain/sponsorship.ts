import type { CountedCall } from '../policy/policy-ledger.js'
import type { Address, GasWalletId, Hex, KeyId, LineageId, SubWalletId, TxId } from './ids.js'
import type { UsdMicros } from './money.js'
import type { Reservation } from './spend.js'
import type { AccountTransaction, AskedApproval, TxKind, Valuation } from './transaction.js'

/** Kinds of calls whose gas the service pays (CONTRACT.md, "Gas"). */
export type SponsoredKind = Exclude<TxKind, 'send'>

export function isSponsored(kind: TxKind): kind is SponsoredKind {
  return kind !== 'send'
}

/** A signed EIP-7702 authorization; bound to one chain and one nonce of the account. */
export interface Authorization {
  readonly chainId: number
  /** The delegate. */
  readonly address: Address
  readonly nonce: number
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
}

/** A co-signer's P-256 signature over an intent's digest, and the key that it verifies by. */
export interface CoSignature {
  /** 65 bytes, 0x04 ‖ x ‖ y. */
  readonly publicKey: Uint8Array
  /** 64 bytes r ‖ s, low s. */
  readonly signature: Uint8Array
}

/**
 * A sponsored call whose intent carries both signatures. It is stored before a gas wallet hears of
 * it, and as long as the intent could still be executed: until it succeeded, or until it failed
 * and its deadline has passed.
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
  /** Calldata of `AgentRouter.execute`, both signatures included. */
  readonly calldata: Hex
  /** Carried along where the account was not delegated yet. */
  readonly authorization: Authorization | null
  /** Unix seconds by the block's clock. */
  readonly deadlineSeconds: number
  readonly gasWalletId: GasWalletId
  readonly valuation: Valuation
  readonly reservation: Reservation
  /** Part of the sub-wallet's gas budget that is held until the gas is known. */
  readonly gasMicros: UsdMicros
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  readonly createdAtMs: number
  /** Present where people were asked, or it had to wait: it has a record since it was requested. */
  readonly waited?: { readonly approval: AskedApproval; readonly createdAtMs: number }
  /** Absent where its key's policy counts nothing. */
  readonly counted?: CountedCall
  /**
   * handed: a gas wallet was asked. sent: it has signed; the transaction's record says how it
   * counts. held: it failed, and the spend stays reserved until the deadline has passed.
   */
  readonly stage: 'handed' | 'sent' | 'held'
}

/** An account that pays the gas of sponsored calls on one chain. */
export interface GasWallet {
  readonly gasWalletId: GasWalletId
  readonly chainId: number
  /** Names its key at the quorum. */
  readonly walletId: SubWalletId
  readonly address: Address
  readonly epoch: number
  /** The nonce after the last one with durable signed bytes; null until read from the chain. */
  readonly nextNonce: number | null
  /** As in `LaneMark`. */
  readonly ownFrom?: number
}

/** What a gas wallet is asked to send. */
export interface GasJob {
  readonly txId: TxId
  readonly subWalletId: SubWalletId
  /** Of the key that asked: what freezes it stops the job; null: it ends a delegation. */
  readonly lineageId: LineageId | null
  readonly chainId: number
  /** The sub-wallet's address. */
  readonly account: Address
  /** Whom the transaction calls; the account itself, without calldata, to end its delegation. */
  readonly router: Address
  readonly calldata: Hex
  readonly authorization: Authorization | null
  /** The failed call whose intent this ends on chain; null for an execution. */
  readonly cancels: TxId | null
}

/** A gas wallet's transaction; `job` is null for one that only closes a gap in its nonces. */
export interface GasTransaction {
  readonly gasWalletId: GasWalletId
  /** Its own: the gas wallet is `from`. */
  readonly tx: AccountTransaction
  readonly job: GasJob | null
}
