import type { ChainAccess } from '../chains/access.js'
import { NATIVE_DECIMALS, NATIVE_TOKEN } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import { type UsdMicros, valueUsdMicros } from '../domain/money.js'
import { fault, ok, type Result, refuse } from '../errors/fault.js'
import type { PriceSource } from '../pricing/price-source.js'

export interface InputValue {
  readonly micros: UsdMicros
  /** True when the token has no feed; only keys that allow it may go on. */
  readonly unpriced: boolean
}

/**
 * USD value of what a sponsored call takes, rounded up. A token that has no feed is unpriced; a
 * feed that gives no price now refuses the call for every key.
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function valueOfInput(
  { prices }: { readonly prices: Pick<PriceSource, 'price'> },
  { config }: ChainAccess,
  token: Address,
  amount: bigint,
): Promise<Result<InputValue>> {
  const native = token === NATIVE_TOKEN
  const known = config.tokens.find((it) => it.address.toLowerCase() === token.toLowerCase())
  const wrapped = config.wrapped_native.toLowerCase() === token.toLowerCase()
  const decimals = native || wrapped ? NATIVE_DECIMALS : known?.decimals
  if (decimals === undefined) return ok({ micros: 0n, unpriced: true })
  const price = await prices.price(config.id, native ? 'native' : token)
  if ('value' in price) {
    return ok({
      micros: valueUsdMicros(amount, decimals, price.value, price.decimals),
      unpriced: false,
    })
  }
  if (price.unavailable === 'no-feed') return ok({ micros: 0n, unpriced: true })
  const details = { chain_id: config.id, token, reason: price.unavailable }
  return refuse(fault('PRICE_UNAVAILABLE', details))
}
