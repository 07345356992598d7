import type { Address, LineageId, SubWalletId, TxId, UserId } from './ids.js'
import type { UsdMicros } from './money.js'
import type { SpendCounters } from './spend.js'

/** A sub-wallet as stored. Its address exists only once both domains hold their shares. */
export interface SubWallet {
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly name: string
  readonly address: Address
  readonly epoch: number
  readonly createdAtMs: number
}

/** A lane's durable part: the nonce after the last one that has durable signed bytes. */
export interface LaneMark {
  readonly chainId: number
  readonly nextNonce: number
  /** The first nonce that was handed out here; absent when unknown. */
  readonly ownFrom?: number
}

/**
 * What a sub-wallet's actor keeps besides its keys and transactions. It is written whole with every
 * commit, so it stays small: it does not grow with history.
 */
export interface SubWalletHeader {
  readonly wallet: SubWallet
  readonly lanes: readonly LaneMark[]
  readonly spend: readonly { readonly lineageId: LineageId; readonly counters: SpendCounters }[]
  /** Open transactions, up to OPEN_LISTED_MAX; the store indexes others one by one. */
  readonly open: readonly TxId[]
  readonly sponsored?: SponsoredMarks
  /** Absent before the first notice. */
  readonly limitNotices?: readonly LimitMark[]
}

/** A header is written with every send: a longer list would cost more than an index. */
export const OPEN_LISTED_MAX = 64

/** The use of a cap that its owner was last notified of (`limit.reached`). */
export interface LimitMark {
  readonly lineageId: LineageId
  readonly period: 'daily' | 'monthly'
  /** The day or month, as `SpendCounters` counts them. */
  readonly window: number
  /** The cap that the notice was about: a changed cap is reported again. */
  readonly limitMicros: UsdMicros
  readonly percent: 80 | 100
}

/** The durable traces of sponsored calls; absent before the first. */
export interface SponsoredMarks {
  /** The Router's nonces are a bitmap per account; handed out in order, they cost the least gas. */
  readonly intentNonces: readonly { readonly chainId: number; readonly next: number }[]
  readonly gas: SponsoredGas
  /** Calls of delegated accounts; absent when unknown. */
  readonly lastCalls?: readonly LastSponsoredCall[]
}

/** The time of a delegated account's last sponsored call. */
interface LastSponsoredCall {
  readonly chainId: number
  readonly atMs: number
}

/** Gas that the service paid for a sub-wallet on one UTC day. */
export interface SponsoredGas {
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly micros: UsdMicros
}
