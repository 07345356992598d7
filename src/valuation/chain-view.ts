import { getAddress } from 'viem/utils'
import type { ChainAccess } from '../chains/access.js'
import { contractCall } from '../chains/contract-call.js'
import { RpcCallError } from '../chains/rpc/errors.js'
import { wordAt } from '../contracts/abi-words.js'
import { ASSET } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import { isKnown, type Price, type PriceSource } from '../pricing/price-source.js'
import { type PricedToken, pricedTokensOf } from './price-book.js'

/** One chain as valuation uses it. All address keys are lower-case. */
export interface ChainView {
  readonly chain: ChainAccess
  readonly priced: ReadonlyMap<string, PricedToken>
  /** The last known price of each token, by the keys of `PriceBook`. */
  readonly lastPrices: Map<string, Price>
  /** Tokens whose code the operator vouches for, with or without a price. */
  isConfigured(lowerCaseToken: string): boolean
  /** The shares of the configured markets, as far as their vaults answered; read once. */
  vaults(): Promise<ReadonlyMap<string, VaultShares>>
  /** Spenders that can take nothing without the wallet's own signature. */
  isOurs(spender: Address): boolean
}

/** The shares of a vault whose asset has a price. */
export interface VaultShares {
  readonly address: Address
  readonly decimals: number
  /** Lower-case. */
  readonly asset: string
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
  let known: ReadonlyMap<string, VaultShares> | null = null
  return {
    chain,
    priced,
    lastPrices: new Map(),
    async vaults() {
      if (known !== null) return known
      const { found, allAnswered } = await readVaults(chain, priced)
      if (allAnswered) known = found
      return found
    },
    isConfigured: (token) => configured.has(token),
    isOurs: (spender) => spender.toLowerCase() === router && hasRouter(config.id),
  }
}

/** @returns native and every priced token of the chain, by the keys of `PriceBook` */
export async function allPrices(
  source: PriceSource,
  { chain, priced, lastPrices }: ChainView,
): Promise<ReadonlyMap<string, Price>> {
  const { id } = chain.config
  const prices = new Map<string, Price>([['native', await source.price(id, 'native')]])
  for (const [key, { address }] of priced) prices.set(key, await source.price(id, address))
  for (const [key, price] of prices) if (isKnown(price)) lastPrices.set(key, price)
  return prices
}

/**
 * A contract that does not answer as a vault, or whose asset has no feed, is a token like any
 * other.
 */
async function readVaults(
  { config, reads, rpc }: ChainAccess,
  priced: ReadonlyMap<string, PricedToken>,
): Promise<{ found: ReadonlyMap<string, VaultShares>; allAnswered: boolean }> {
  const found = new Map<string, VaultShares>()
  let allAnswered = true
  await Promise.all(
    config.markets.map(async ({ vault }) => {
      const address = getAddress(vault)
      const [metadata, [answer]] = await Promise.all([
        reads.tokenMetadata(address),
        rpc.batch([contractCall(address, ASSET)]),
      ])
      if (answer !== undefined && !answer.ok && !(answer.error instanceof RpcCallError)) {
        throw answer.error
      }
      const asset = answer?.ok === true ? assetOf(answer.value) : null
      if (metadata === null || asset === null) allAnswered = false
      else if (priced.has(asset))
        found.set(vault.toLowerCase(), { address, decimals: metadata.decimals, asset })
    }),
  )
  return { found, allAnswered }
}

function assetOf(value: unknown): string | null {
  const word = typeof value === 'string' ? wordAt(value as Hex, 0) : null
  return word === null ? null : `0x${word.slice(24).toLowerCase()}`
}
