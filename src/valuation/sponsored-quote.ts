import type { Exchange } from '../domain/exchange.js'
import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import type { Valuation } from '../domain/transaction.js'
import type { Fault, Result } from '../errors/fault.js'

/** Value and terms of a sponsored call's input, or why they are unavailable. */
export type SponsoredQuote =
  | {
      readonly ok: true
      readonly valuation: Valuation
      readonly unpriced: boolean
      readonly terms: Result<IntentTerms>
      /** The venue's offer for them, in smallest units of the output; 0 when they would fail. */
      readonly offered: bigint
      /** Both sides at our prices; null when one of them, or a token on the route, has no price. */
      readonly exchange: Exchange | null
      /** Venue, tokens and vault, for the screening; the account is added. */
      readonly parties: readonly PartyNamed[]
    }
  | { readonly ok: false; readonly fault: Fault }
