import type { Replan } from '../../src/defi/replan.js'
import type { Exchange } from '../../src/domain/exchange.js'
import type { Address } from '../../src/domain/ids.js'
import type { SponsoredQuote } from '../../src/valuation/sponsored-quote.js'
import { priceOn } from './coins.js'
import type { Draw } from './random.js'

export const ROUTER: Address = '0x3333333333333333333333333333333333333333'
export const DELEGATE: Address = '0x4444444444444444444444444444444444444444'
const TOKEN: Address = '0x5555555555555555555555555555555555555555'
const VENUE: Address = '0x6666666666666666666666666666666666666666'

const DOLLAR = { numerator: 1n, denominator: 1n }
/** What one takes and the other gives are of the same worth, whatever little of it is asked for. */
const EVEN: Exchange = { netIn: 0n, unitIn: DOLLAR, unitOut: DOLLAR }

/** As its operation would have planned it: a token of a dollar, for as much of another. */
export function swapOf(chainId: number, micros: bigint) {
  return {
    ...{ chainId, router: ROUTER, delegate: DELEGATE },
    quote: quoteOf(chainId, micros, micros),
  }
}

/** A venue whose offer may be another by the time at which a waiting call is let through. */
export function replanFrom(draw: Draw): Replan {
  return async ({ config: { id } }, { terms: { amountIn }, offered }) => {
    const percent = draw.pick([100n, 100n, 100n, 99n, 90n, 120n])
    return quoteOf(id, amountIn, (offered * percent) / 100n)
  }
}

function quoteOf(chainId: number, micros: bigint, offered: bigint): SponsoredQuote {
  const { value: nativePrice, decimals: nativePriceDecimals } = priceOn(chainId)
  const terms = {
    ...{ tokenIn: TOKEN, amountIn: micros, feeBps: 10, tokenOut: VENUE, minOut: 1n },
    ...{ target: VENUE, data: '0x12345678' as const },
  }
  return {
    ...{ ok: true, unpriced: false, offered, parties: [], exchange: EVEN },
    terms: { ok: true, value: terms },
    valuation: { valueMicros: micros, gasMicros: 0n, nativePrice, nativePriceDecimals },
  }
}
