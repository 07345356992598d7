import type { SimulatedApproval, SimulatedTransfer } from '../chains/simulate/simulation.js'
import type { Call } from '../domain/call.js'
import type { Exposure } from '../domain/exposure.js'
import type { Address, Hex, TxId } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { Valuation } from '../domain/transaction.js'
import type { Fault } from '../errors/fault.js'
import type { UsedPrice } from './price-book.js'

/** The port that finds what a call needs and what it can take out of the wallet. */
export interface Quoter {
  /** Answers without a promise while its caches are warm. Never throws and never rejects. */
  quote(call: QuotedCall): CallQuote | Promise<CallQuote>
  /** The same, but always simulated when a node can. Never rejects. */
  forecast(call: QuotedCall): Promise<CallQuote>
}

/** A flat call with its sender, in the form that a node simulates. */
export interface QuotedCall extends Call {
  readonly from: Address
  /** The wallet's own calls that will be mined before this one; read only for simulated calls. */
  readonly unmined?: () => readonly UnminedCall[]
}

/** A call of the wallet that is queued, being signed, signed or broadcast, as far as is known. */
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

/** Gas, fees and value of a call, or why they are unavailable. */
export type CallQuote =
  | {
      readonly ok: true
      readonly gasLimit: bigint
      readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
      /** Without any credit: the most that it can count. The actor replaces `valueMicros`. */
      readonly valuation: Valuation
      /** Set when the value depends on who paid for an allowance; otherwise absent or null. */
      readonly exposure?: Exposure | null
      /** True when an outflow has no price; only keys that permit it may continue. */
      readonly unpriced: boolean
      /** A revert or a lack of funds that was found; answered after limit and screening. */
      readonly problem: Fault | null
      /**
       * True when the sender is delegated (EIP-7702): its lane then has one transaction in flight.
       */
      readonly accountHasCode: boolean
      readonly basis: QuoteBasis
    }
  | { readonly ok: false; readonly fault: Fault }

/** The observations that a quote depends on. */
export interface QuoteBasis {
  /** False when the call was valued only from its calldata. */
  readonly simulated: boolean
  /** The wallet's own calls that it was valued after; absent or null for a plain transfer. */
  readonly after?: readonly TxId[] | null
  /** The head of the chain when the quote was made. */
  readonly quotedAtBlock: number
  /** Every price used in the valuation. */
  readonly prices: readonly UsedPrice[]
  /**
   * Everything that would leave or enter the wallet; empty when the call would fail or was not
   * simulated.
   */
  readonly movements: readonly Movement[]
  /** The assets that others could take from the wallet afterwards. */
  readonly approvals: readonly Approval[]
  /** Everyone who would receive, spend or operate; screened in addition to the calldata. */
  readonly recipients: readonly Recipient[]
  /** Null when nothing was simulated. */
  readonly gasUsed: bigint | null
  /** The value that others receive or may take according to the logs alone; absent for nothing. */
  readonly predictedMicros?: UsdMicros
  /** The most that gas can cost, wei: limit × maximum fee, plus the bound on the L1 data fee. */
  readonly maxFeeWei: bigint
}

export interface Movement extends SimulatedTransfer {
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface Approval extends SimulatedApproval {
  /** The smaller of allowance and total supply in micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
  /** Set for an ERC-721 approval when the calldata names the token id. */
  readonly tokenId?: bigint
}

export interface Recipient {
  readonly address: Address
  /** The place, for example `simulated transfer of 0xA0b8…`. */
  readonly path: string
}
