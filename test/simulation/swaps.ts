import type { Replan } from '../../src/defi/replan.js'
import type { Address } from '../../src/domain/ids.js'
import type { SponsoredQuote } from '../../src/valuation/sponsored-quote.js'
import type { Draw } from './random.js'

export const CHAIN_ID = 1
export const ROUTER: Address = '0x3333333333333333333333333333333333333333'
export const DELEGATE: Address = '0x4444444444444444444444444444444444444444'
const TOKEN: Address = '0x5555555555555555555555555555555555555555'
const VENUE: Address = '0x6666666666666666666666666666666666666666'
export const NATIVE_PRICE = { value: 2_000n * 10n ** 8n, decimals: 8 }

/** As its operation would have planned it: a token of a dollar, for as much of another. */
export function swapOf(micros: bigint) {
  return {
    ...{ chainId: CHAIN_ID, router: ROUTER, delegate: DELEGATE },
    quote: quoteOf(micros, micros),
  }
}

/** A venue whose offer may be another by the time at which a waiting call is let through. */
export function replanFrom(draw: Draw): Replan {
  return async (_, { terms: { amountIn }, offered }) => {
    const percent = draw.pick([100n, 100n, 100n, 99n, 90n, 120n])
    return quoteOf(amountIn, (offered * percent) / 100n)
  }
}

function quoteOf(micros: bigint, offered: bigint): SponsoredQuote {
  const { value: nativePrice, decimals: nativePriceDecimals } = NATIVE_PRICE
  const terms = {
    ...{ tokenIn: TOKEN, amountIn: micros, feeBps: 10, tokenOut: VENUE, minOut: 1n },
    ...{ target: VENUE, data: '0x12345678' as const },
  }
  return {
    ...{ ok: true, unpriced: false, offered, parties: [] },
    terms: { ok: true, value: terms },
    valuation: { valueMicros: micros, gasMicros: 0n, nativePrice, nativePriceDecimals },
  }
}
