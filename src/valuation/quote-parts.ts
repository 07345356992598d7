import type { AccountCode } from '../chains/account-code.js'
import type { FeeQuote } from '../chains/fee-oracle.js'
import type { Exposure } from '../domain/exposure.js'
import type { UsdMicros } from '../domain/money.js'
import { type Fault, fault } from '../errors/fault.js'
import type { PriceBook } from './price-book.js'
import type { CallQuote, QuoteBasis, QuotedCall } from './quoter.js'

/**
 * The size of a type-2 transaction's envelope, signature and fields, besides its calldata;
 * generous.
 */
export const ENVELOPE_BYTES = 256

interface QuoteParts {
  readonly fees: FeeQuote
  readonly gasLimit: bigint
  readonly maxFeeWei: bigint
  readonly valueMicros: UsdMicros
  readonly exposure: Exposure | null
  readonly unpriced: boolean
  readonly problem: Fault | null
  readonly senderCode: AccountCode
  readonly basis: Omit<QuoteBasis, 'quotedAtBlock' | 'maxFeeWei'>
}

/** Adds gas to a valuation. Refuses when a required price is missing. */
export function completeQuote(call: QuotedCall, book: PriceBook, parts: QuoteParts): CallQuote {
  const { fees, gasLimit, maxFeeWei, valueMicros, exposure, unpriced, problem } = parts
  const { senderCode, basis } = parts
  const gasMicros = book.native(maxFeeWei)
  const native = book.nativePrice
  if (native === null || book.gap !== null) {
    return unvalued(call.chainId, book.gap ?? 'no-feed')
  }
  return {
    ok: true,
    gasLimit,
    fees: fees.fees,
    valuation: {
      valueMicros,
      gasMicros,
      nativePrice: native.value,
      nativePriceDecimals: native.decimals,
    },
    exposure,
    unpriced,
    problem,
    accountHasCode: senderCode.kind === 'delegated',
    basis: {
      simulated: basis.simulated,
      after: basis.after ?? null,
      quotedAtBlock: fees.head.number,
      prices: basis.prices,
      movements: basis.movements,
      approvals: basis.approvals,
      recipients: basis.recipients,
      gasUsed: basis.gasUsed,
      predictedMicros: basis.predictedMicros ?? 0n,
      maxFeeWei,
    },
  }
}

/** @param reason public; the cause of the failure */
export function unvalued(chainId: number, reason: string): CallQuote {
  return { ok: false, fault: fault('PRICE_UNAVAILABLE', { chain_id: chainId, reason }) }
}
