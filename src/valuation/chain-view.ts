import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import type { Price, PriceSource } from '../pricing/price-source.js'
import { type PricedToken, pricedTokensOf } from './price-book.js'

/** One chain as valuation sees it. All address keys are lower-case. */
export interface ChainView {
  readonly chain: ChainAccess
  readonly priced: ReadonlyMap<string, PricedToken>
  /** Tokens whose code the operator vouches for, priced or not. */
  isConfigured(lowerCaseToken: string): boolean
  /** Spenders that can take nothing without the wallet's own signature. */
  isOurs(spender: Address): boolean
}

export function createChainView(
  chain: ChainAccess,
  hasRouter: (chainId: number) => boolean,
): ChainView {
  const { config } = chain
  const priced = pricedTokensOf(config)
  const configured = new Set([
    ...priced.keys(),
    ...config.tokens.map(({ address }) => address.toLowerCase()),
  ])
  const router = config.router?.toLowerCase() ?? null
  return {
    chain,
    priced,
    isConfigured: (token) => configured.has(token),
    isOurs: (spender) => spender.toLowerCase() === router && hasRouter(config.id),
  }
}

/** @returns native and every priced token of the chain, by the keys of `PriceBook` */
export async function allPrices(
  source: PriceSource,
  { chain, priced }: ChainView,
): Promise<ReadonlyMap<string, Price>> {
  const { id } = chain.config
  const prices = new Map<string, Price>([['native', await source.price(id, 'native')]])
  for (const [key, { address }] of priced) prices.set(key, await source.price(id, address))
  return prices
}
