import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import type { Valuation } from '../domain/transaction.js'
import type { Fault, Result } from '../errors/fault.js'

/** Value and terms of the input of a sponsored call, or why they could not be had. */
export type SponsoredQuote =
  | {
      readonly ok: true
      readonly valuation: Valuation
      readonly unpriced: boolean
      readonly terms: Result<IntentTerms>
      /** What the venue offers for them, smallest units of the output; 0 where they would fail. */
      readonly offered: bigint
      /** Venue, tokens and vault, for the screening; the account is added. */
      readonly parties: readonly PartyNamed[]
    }
  | { readonly ok: false; readonly fault: Fault }
