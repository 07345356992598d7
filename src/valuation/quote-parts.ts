import type { FeeQuote } from '../chains/fee-oracle.js'
import type { UsdMicros } from '../domain/money.js'
import { type Fault, fault } from '../errors/fault.js'
import type { ChainView } from './chain-view.js'
import type { PriceBook } from './price-book.js'
import type { CallQuote, Forecast, QuotedCall } from './quoter.js'

/** Envelope, signature and fields of a type-2 transaction, beside its calldata; generous. */
export const ENVELOPE_BYTES = 256

export interface QuoteParts {
  readonly fees: FeeQuote
  readonly gasLimit: bigint
  readonly maxFeeWei: bigint
  readonly valueMicros: UsdMicros
  readonly unpriced: boolean
  readonly problem: Fault | null
  readonly forecast: Omit<Forecast, 'quotedAtBlock' | 'maxFeeWei'>
}

/** Adds gas to a valuation. Refuses when a price is missing that must be there. */
export function completeQuote(
  { chain }: ChainView,
  call: QuotedCall,
  book: PriceBook,
  parts: QuoteParts,
): CallQuote {
  const { fees, gasLimit, maxFeeWei, valueMicros, unpriced, problem, forecast } = parts
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
    unpriced,
    problem,
    accountHasCode: chain.reads.cachedCode(call.from)?.kind === 'delegated',
    forecast: { ...forecast, quotedAtBlock: fees.head.number, maxFeeWei },
  }
}

/** @param reason public; says what stands in the way */
export function unvalued(chainId: number, reason: string): CallQuote {
  return { ok: false, fault: fault('PRICE_UNAVAILABLE', { chain_id: chainId, reason }) }
}
