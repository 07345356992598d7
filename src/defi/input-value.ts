import type { ChainAccess } from '../chains/access.js'
import { NATIVE_DECIMALS, NATIVE_TOKEN } from '../domain/chains.js'
import type { UnitWorth } from '../domain/exchange.js'
import type { Address } from '../domain/ids.js'
import { powerOfTen, type UsdMicros, valueUsdMicros } from '../domain/money.js'
import { fault, ok, type Result, refuse } from '../errors/fault.js'
import type { PriceSource } from '../pricing/price-source.js'

export interface InputValue {
  readonly micros: UsdMicros
  /** True when the token has no feed; only keys that permit it may continue. */
  readonly unpriced: boolean
}

interface Prices {
  readonly prices: Pick<PriceSource, 'price'>
}

/** A token with its price. */
interface Priced {
  readonly decimals: number
  readonly price: bigint
  readonly priceDecimals: number
}

/**
 * The USD value of a sponsored call's input, rounded up. A token without a feed is unpriced; a feed
 * without a present price refuses the call for every key.
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function valueOfInput(
  ports: Prices,
  chain: ChainAccess,
  token: Address,
  amount: bigint,
): Promise<Result<InputValue>> {
  const priced = await pricedToken(ports, chain, token)
  if (!priced.ok) return priced
  if (priced.value === null) return ok({ micros: 0n, unpriced: true })
  const { decimals, price, priceDecimals } = priced.value
  return ok({ micros: valueUsdMicros(amount, decimals, price, priceDecimals), unpriced: false })
}

/**
 * The price of one smallest unit of a token; null without a feed.
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function worthOfUnit(
  ports: Prices,
  chain: ChainAccess,
  token: Address,
): Promise<Result<UnitWorth | null>> {
  const priced = await pricedToken(ports, chain, token)
  if (!priced.ok || priced.value === null) return priced as Result<null>
  const { decimals, price, priceDecimals } = priced.value
  return ok({ numerator: price, denominator: powerOfTen(decimals + priceDecimals) })
}

async function pricedToken(
  { prices }: Prices,
  { config }: ChainAccess,
  token: Address,
): Promise<Result<Priced | null>> {
  const native = token === NATIVE_TOKEN
  const known = config.tokens.find((it) => it.address.toLowerCase() === token.toLowerCase())
  const wrapped = config.wrapped_native.toLowerCase() === token.toLowerCase()
  const decimals = native || wrapped ? NATIVE_DECIMALS : known?.decimals
  if (decimals === undefined) return ok(null)
  const price = await prices.price(config.id, native ? 'native' : token)
  if ('value' in price) {
    return ok({ decimals, price: price.value, priceDecimals: price.decimals })
  }
  if (price.unavailable === 'no-feed') return ok(null)
  const details = { chain_id: config.id, token, reason: price.unavailable }
  return refuse(fault('PRICE_UNAVAILABLE', details))
}
