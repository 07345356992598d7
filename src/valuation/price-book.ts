import type { ChainConfig } from '../config/chains.js'
import { NATIVE_DECIMALS } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import { type UnitPrice, worthOf } from '../domain/unit-price.js'
import { isKnown, type Price, type PriceGap } from '../pricing/price-source.js'

/** A token of the configuration that has a price feed. */
export interface PricedToken {
  readonly address: Address
  readonly decimals: number
  /** Set for a vault's shares, which are worth what they can be redeemed for. */
  readonly share?: SharePrice
}

interface SharePrice {
  /** Lower-case; a token of the configuration with a feed. */
  readonly asset: string
  /** Smallest units of the asset per whole share, rounded up. */
  readonly assetsPerShare: bigint
}

/** The tokens of a chain that can be valued; keys are lower-case. Wrapped native is one of them. */
export function pricedTokensOf(chain: ChainConfig): ReadonlyMap<string, PricedToken> {
  const priced = new Map<string, PricedToken>()
  for (const { address, decimals, feed } of chain.tokens) {
    if (feed !== null) priced.set(address.toLowerCase(), { address: address as Address, decimals })
  }
  const wrapped = chain.wrapped_native as Address
  priced.set(wrapped.toLowerCase(), { address: wrapped, decimals: NATIVE_DECIMALS })
  return priced
}

export interface UsedPrice {
  readonly token: Address | 'native'
  /** USD per whole unit, scaled by 10^decimals. */
  readonly value: bigint
  readonly decimals: number
}

/** The value of an amount: micro-USD rounded up, or null for a token without any feed. */
export type Worth = UsdMicros | null

/**
 * The prices of one valuation. It notes which were used, and the first required price that is
 * missing.
 */
export class PriceBook {
  readonly #tokens: ReadonlyMap<string, PricedToken>
  readonly #prices: ReadonlyMap<string, Price>
  readonly #used = new Map<string, UsedPrice>()
  #gap: PriceGap | null = null

  /** @param prices by lower-case token, or `native` */
  constructor(tokens: ReadonlyMap<string, PricedToken>, prices: ReadonlyMap<string, Price>) {
    this.#tokens = tokens
    this.#prices = prices
  }

  native(amountWei: bigint): UsdMicros {
    const unit = this.unit('native')
    return unit === null ? 0n : worthOf(amountWei, unit)
  }

  /**
   * Whether the token has a feed, stale or not.
   * @param token lower-case
   */
  has(token: string): boolean {
    return this.#tokens.has(token)
  }

  /** @param token lower-case */
  token(token: string, amount: bigint): Worth {
    if (amount === 0n) return 0n
    const unit = this.unit(token)
    return unit === null ? null : worthOf(amount, unit)
  }

  /**
   * For amounts that are not known yet. A stale feed is a gap, and the price is then zero.
   * @param token lower-case, or `native`
   * @returns null for a token without any feed
   */
  unit(token: string): UnitPrice | null {
    if (token === 'native') return this.#unit('native', 'native', NATIVE_DECIMALS)
    const known = this.#tokens.get(token)
    if (known === undefined) return null
    const { share, decimals, address } = known
    if (share === undefined) return this.#unit(token, address, decimals)
    const asset = this.unit(share.asset)
    return asset === null ? null : shareUnit(asset, decimals, share)
  }

  /**
   * For people to read: null without a price, which is not a gap here. It shows incoming assets,
   * whose stale price must not refuse the call.
   * @param token lower-case, or `native`
   */
  shown(token: string, amount: bigint): UsdMicros | null {
    const unit = this.#shownUnit(token)
    return unit === null ? null : worthOf(amount, unit)
  }

  /** Null until `native` was used, or when it has no price. */
  get nativePrice(): UsedPrice | null {
    return this.#used.get('native') ?? null
  }

  get used(): readonly UsedPrice[] {
    return [...this.#used.values()]
  }

  /**
   * Why a required feed gave no price; null when all did. Spec silent: such an outflow is refused
   * for every key. `unpriced_assets: "allow"` permits assets without a feed, and must not become a
   * way past the cap whenever a feed is stale.
   */
  get gap(): PriceGap | null {
    return this.#gap
  }

  #shownUnit(token: string): UnitPrice | null {
    const known = this.#tokens.get(token)
    const decimals = token === 'native' ? NATIVE_DECIMALS : known?.decimals
    if (decimals === undefined) return null
    if (known?.share !== undefined) {
      const asset = this.#shownUnit(known.share.asset)
      return asset === null ? null : shareUnit(asset, decimals, known.share)
    }
    const price = this.#prices.get(token)
    if (price === undefined || !isKnown(price)) return null
    return { price: price.value, priceDecimals: price.decimals, decimals }
  }

  #unit(key: string, token: Address | 'native', decimals: number): UnitPrice {
    const price = this.#prices.get(key)
    if (price === undefined || !isKnown(price)) {
      this.#gap ??= price?.unavailable ?? 'no-feed'
      return { price: 0n, priceDecimals: 0, decimals }
    }
    this.#used.set(key, { token, value: price.value, decimals: price.decimals })
    return { price: price.value, priceDecimals: price.decimals, decimals }
  }
}

function shareUnit(asset: UnitPrice, decimals: number, { assetsPerShare }: SharePrice): UnitPrice {
  const { price, priceDecimals } = asset
  return {
    price: price * assetsPerShare,
    priceDecimals,
    decimals: decimals + asset.decimals,
  }
}
