import type { Address, Hex } from '../domain/ids.js'
import type { Valuation } from '../domain/transaction.js'
import type { Fault } from '../errors/fault.js'

/** The port that says what a call needs and what it can take out of the wallet. */
export interface Quoter {
  /** Answers without a promise while its caches are warm. Never throws and never rejects. */
  quote(call: QuotedCall): CallQuote | Promise<CallQuote>
}

export interface QuotedCall {
  readonly chainId: number
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
}

/** Gas, fees and value of a call, or why they could not be had. */
export type CallQuote =
  | {
      readonly ok: true
      readonly gasLimit: bigint
      readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
      readonly valuation: Valuation
      /** True when some outflow has no price; only keys that allow it may go on. */
      readonly unpriced: boolean
      /** A revert or a lack of funds seen on the way; answered after limit and screening. */
      readonly problem: Fault | null
      /** True when the sender is delegated (EIP-7702): its lane takes one transaction at a time. */
      readonly accountHasCode: boolean
    }
  | { readonly ok: false; readonly fault: Fault }
