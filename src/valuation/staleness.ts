import type { Address } from '../domain/ids.js'
import { powerOfTen } from '../domain/money.js'
import { isKnown, type Price } from '../pricing/price-source.js'
import type { CallQuote, QuoteBasis } from './quoter.js'

/** A call is simulated for the next block; one more block may pass until its decision. */
const SIMULATED_BLOCKS_MAX = 1
/** One per cent. */
const PRICE_MOVE_NUMERATOR = 1n
const PRICE_MOVE_DENOMINATOR = 100n

/**
 * Whether an earlier quote may still be decided on. Pure.
 * @param headNumber of the chain's head now; null when unknown
 * @param priceNow as `PriceSource.price` answers now; a promise counts as no price
 * @returns false for quotes that refuse, because a new quote may succeed
 */
export function quoteStillGood(
  quote: CallQuote,
  headNumber: number | null,
  priceNow: (token: Address | 'native') => Price | Promise<Price>,
): boolean {
  return quote.ok && basisStillGood(quote.basis, headNumber, priceNow)
}

/** The same check for what a quote depends on. */
export function basisStillGood(
  { simulated, quotedAtBlock, prices }: QuoteBasis,
  headNumber: number | null,
  priceNow: (token: Address | 'native') => Price | Promise<Price>,
): boolean {
  if (simulated) {
    // A lower head means a reorg or a node that lags; the simulation may not hold there.
    const age = headNumber === null ? null : headNumber - quotedAtBlock
    if (age === null || age > SIMULATED_BLOCKS_MAX || age < 0) return false
  }
  return prices.every((used) => {
    const now = priceNow(used.token)
    if (now instanceof Promise || !isKnown(now)) return false
    // Cross-multiplied, so that a feed that changes its decimals can be compared.
    const before = used.value * powerOfTen(now.decimals)
    const after = now.value * powerOfTen(used.decimals)
    const move = before > after ? before - after : after - before
    return move * PRICE_MOVE_DENOMINATOR <= before * PRICE_MOVE_NUMERATOR
  })
}
