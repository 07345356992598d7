import type { ChainAccess } from '../chains/access.js'
import type { Exchange } from '../domain/exchange.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import { type Fault, FaultError, fault, type Result } from '../errors/fault.js'
import { insufficientFunds } from '../errors/insufficient-funds.js'
import type { PriceSource } from '../pricing/price-source.js'
import type { SponsoredQuote } from '../valuation/sponsored-quote.js'
import type { InputValue } from './input-value.js'
import type { SwapVenue } from './swap-venue.js'
import type { VaultVenue } from './vault-venue.js'

/** A sponsored call between its request and its actor. */
export interface Plan {
  readonly value: InputValue
  /**
   * The terms to be signed, or the reason why they cannot be; answered after limit and screening.
   */
  readonly terms: Result<IntentTerms>
  /** The venue's offer for them, in smallest units of the output; 0 when they would fail. */
  readonly offered: bigint
  /** Both sides at our prices; null when one of them, or a token on the route, has no price. */
  readonly exchange: Exchange | null
  readonly parties: readonly PartyNamed[]
}

export interface PlanPorts {
  readonly prices: Pick<PriceSource, 'price'>
  readonly swapVenue: SwapVenue
  readonly vaultVenue: VaultVenue
}

/**
 * Returns the planned call with its value; a failure of planning becomes the quote's fault and is
 * answered in its turn.
 */
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
    const { value, terms, offered, exchange, parties } = planned.value
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
      exchange,
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
  { reads, config }: ChainAccess,
  token: Address | 'native',
  owner: Address,
  amount: bigint,
): Promise<Fault | null> {
  const balance =
    token === 'native'
      ? await reads.nativeBalance(owner)
      : ((await reads.tokenBalance(token, owner)) ?? 0n)
  if (balance >= amount) return null
  return insufficientFunds({
    token: token === 'native' ? null : token,
    have: balance,
    need: amount,
    ...(token === 'native' ? {} : { words: tokenWords(config, token) }),
  })
}

/** The token's configured name; for wrapped native currency, also how to get it. */
function tokenWords(config: ChainAccess['config'], token: Address): string | undefined {
  const address = token.toLowerCase()
  const native = config.native_symbol
  if (config.wrapped_native.toLowerCase() === address) {
    return `W${native}, the wrapped form of ${native}: swap ${native} for ${token} first`
  }
  const known = config.tokens.find((one) => one.address.toLowerCase() === address)
  return known === undefined ? undefined : `${known.symbol}, token ${token}`
}
