import type { ChainConfig } from '../config/chains.js'
import type { Address } from '../domain/ids.js'
import { type UsdMicros, valueUsdMicros } from '../domain/money.js'
import { isKnown, type Price, type PriceGap } from '../pricing/price-source.js'
import type { UsedPrice } from './quoter.js'
import { NATIVE_DECIMALS } from './well-known.js'

/** A token of the configuration that has a price feed. */
export interface PricedToken {
  readonly address: Address
  readonly decimals: number
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

/** What valuing an amount gives: micro-USD rounded up, or null for a token without any feed. */
export type Worth = UsdMicros | null

/** The prices of one valuation. It notes which were used, and the first that should be there and is not. */
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
    return this.#value('native', 'native', NATIVE_DECIMALS, amountWei)
  }

  /** @param token lower-case */
  token(token: string, amount: bigint): Worth {
    if (amount === 0n) return 0n
    const known = this.#tokens.get(token)
    return known === undefined ? null : this.#value(token, known.address, known.decimals, amount)
  }

  /**
   * For people to read: null where there is no price, which is no gap then. What only comes in is
   * shown so, since a late price of it must not refuse the call.
   * @param token lower-case, or `native`
   */
  shown(token: string, amount: bigint): UsdMicros | null {
    const decimals = token === 'native' ? NATIVE_DECIMALS : this.#tokens.get(token)?.decimals
    const price = this.#prices.get(token)
    if (decimals === undefined || price === undefined || !isKnown(price)) return null
    return valueUsdMicros(amount, decimals, price.value, price.decimals)
  }

  /** Null until `native` was asked for, or when it has no price. */
  get nativePrice(): UsedPrice | null {
    return this.#used.get('native') ?? null
  }

  get used(): readonly UsedPrice[] {
    return [...this.#used.values()]
  }

  /**
   * Why a feed that was needed gave no price; null when all did. Spec silent: such an outflow is
   * refused for every key. `unpriced_assets: "allow"` lets go what has no feed, and must not turn
   * into a way past the cap whenever a feed is late.
   */
  get gap(): PriceGap | null {
    return this.#gap
  }

  #value(key: string, token: Address | 'native', decimals: number, amount: bigint): UsdMicros {
    const price = this.#prices.get(key)
    if (price === undefined || !isKnown(price)) {
      this.#gap ??= price?.unavailable ?? 'no-feed'
      return 0n
    }
    this.#used.set(key, { token, value: price.value, decimals: price.decimals })
    return valueUsdMicros(amount, decimals, price.value, price.decimals)
  }
}
