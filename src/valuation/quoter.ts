import type { SimulatedApproval, SimulatedTransfer } from '../chains/simulate/simulation.js'
import type { Call } from '../domain/call.js'
import type { Exposure } from '../domain/exposure.js'
import type { Address, Hex, TxId } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { Valuation } from '../domain/transaction.js'
import type { Fault } from '../errors/fault.js'
import type { UsedPrice } from './price-book.js'

/** The port that says what a call needs and what it can take out of the wallet. */
export interface Quoter {
  /** Answers without a promise while its caches are warm. Never throws and never rejects. */
  quote(call: QuotedCall): CallQuote | Promise<CallQuote>
  /** The same, always with the call run by a node where one can. Never rejects. */
  forecast(call: QuotedCall): Promise<CallQuote>
}

/** Flat, with its sender: what a node runs. */
export interface QuotedCall extends Call {
  readonly from: Address
  /** The wallet's own calls that will be mined before this one; asked only of what is run. */
  readonly unmined?: () => readonly UnminedCall[]
}

/** A call of the wallet that is queued, being signed, signed or out, as far as is known. */
export interface UnminedCall {
  readonly txId: TxId
  /** Null while it waits for one. */
  readonly nonce: number | null
  readonly to: Address
  /** Wei. */
  readonly value: bigint
  readonly data: Hex
  readonly gasLimit: bigint
}

/** Gas, fees and value of a call, or why they could not be had. */
export type CallQuote =
  | {
      readonly ok: true
      readonly gasLimit: bigint
      readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
      /** Without any credit: the most it can count. The actor replaces `valueMicros`. */
      readonly valuation: Valuation
      /** What the call counts depends on who paid for which allowance; absent or null when not. */
      readonly exposure?: Exposure | null
      /** True when some outflow has no price; only keys that allow it may go on. */
      readonly unpriced: boolean
      /** A revert or a lack of funds seen on the way; answered after limit and screening. */
      readonly problem: Fault | null
      /** True when the sender is delegated (EIP-7702): its lane takes one transaction at a time. */
      readonly accountHasCode: boolean
      readonly basis: QuoteBasis
    }
  | { readonly ok: false; readonly fault: Fault }

/** What a quote saw, and on what it rests. */
export interface QuoteBasis {
  /** False when the call was valued from its words alone. */
  readonly simulated: boolean
  /** The wallet's own calls that it was valued after; absent or null for a plain transfer. */
  readonly after?: readonly TxId[] | null
  /** Head of the chain when the quote was made. */
  readonly quotedAtBlock: number
  /** Every price that went into the valuation. */
  readonly prices: readonly UsedPrice[]
  /** All that would leave or enter the wallet; empty when the call would fail or was not run. */
  readonly movements: readonly Movement[]
  /** What others could take of the wallet's afterwards. */
  readonly approvals: readonly Approval[]
  /** Everyone who would receive, spend or operate; for screening besides the calldata. */
  readonly recipients: readonly Recipient[]
  /** Null when nothing was run. */
  readonly gasUsed: bigint | null
  /** What its logs alone show others to get or to be let take; absent is nothing. */
  readonly foreseenMicros?: UsdMicros
  /** Most that gas can cost, wei: limit × maximum fee, and the L1 data fee's bound. */
  readonly maxFeeWei: bigint
}

export interface Movement extends SimulatedTransfer {
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface Approval extends SimulatedApproval {
  /** The smaller of allowance and total supply in micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
  /** Of an ERC-721 approval, where the calldata names it. */
  readonly tokenId?: bigint
}

export interface Recipient {
  readonly address: Address
  /** Such as `simulated transfer of 0xA0b8…`. */
  readonly path: string
}
