import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import { type Fault, FaultError, fault, type Result } from '../errors/fault.js'
import { insufficientFunds } from '../errors/insufficient-funds.js'
import type { PriceSource } from '../pricing/price-source.js'
import type { SponsoredQuote } from '../valuation/sponsored-quote.js'
import type { InputValue } from './input-value.js'
import type { SwapVenue } from './swap-venue.js'
import type { VaultVenue } from './vault-venue.js'

/** Where a sponsored call is between its request and its actor. */
export interface Plan {
  readonly value: InputValue
  /** What is to be signed, or why it cannot be; answered after limit and screening. */
  readonly terms: Result<IntentTerms>
  /** What the venue offers for them, smallest units of the output; 0 where they would fail. */
  readonly offered: bigint
  readonly parties: readonly PartyNamed[]
}

export interface PlanPorts {
  readonly prices: Pick<PriceSource, 'price'>
  readonly swapVenue: SwapVenue
  readonly vaultVenue: VaultVenue
}

/** What is planned, with its worth; a failure is the quote's, and answered in its place. */
export async function quoteOf(
  { prices }: Pick<PlanPorts, 'prices'>,
  { config }: ChainAccess,
  plan: () => Promise<Result<Plan>>,
): Promise<SponsoredQuote> {
  try {
    const [planned, native] = await Promise.all([plan(), prices.price(config.id, 'native')])
    if (!planned.ok) return planned
    if ('unavailable' in native) {
      const details = { chain_id: config.id, reason: native.unavailable }
      return { ok: false, fault: fault('PRICE_UNAVAILABLE', details) }
    }
    const { value, terms, offered, parties } = planned.value
    return {
      ok: true,
      valuation: {
        valueMicros: value.micros,
        gasMicros: 0n,
        nativePrice: native.value,
        nativePriceDecimals: native.decimals,
      },
      unpriced: value.unpriced,
      terms,
      offered,
      parties,
    }
  } catch (error) {
    return { ok: false, fault: chainFault(error, config.id) }
  }
}

function chainFault(error: unknown, chainId: number): Fault {
  if (error instanceof FaultError) return error.fault
  const why = error instanceof Error ? error.message : 'the chain did not answer'
  return fault('CHAIN_UNAVAILABLE', { chain_id: chainId }, undefined, why)
}

/** Null when the account holds the amount. */
export async function lackOf(
  { reads }: ChainAccess,
  token: Address | 'native',
  owner: Address,
  amount: bigint,
): Promise<Fault | null> {
  const balance =
    token === 'native' ? await reads.nativeBalance(owner) : await reads.tokenBalance(token, owner)
  if (balance >= amount) return null
  return insufficientFunds({
    token: token === 'native' ? null : token,
    have: balance,
    need: amount,
  })
}
