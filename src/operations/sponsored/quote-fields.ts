import type { ChainAccess } from '../../chains/access.js'
import { routerFee } from '../../contracts/router-intent-type.js'
import { SERVICE_FEE_BPS } from '../../defi/fee.js'
import { QUOTE_LIFETIME_MS } from '../../defi/quote-book.js'
import { NATIVE_DECIMALS, NATIVE_TOKEN } from '../../domain/chains.js'
import type { Address } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUnits } from '../../domain/money.js'
import type { OperationPorts } from '../ports.js'

interface TokenFacts {
  readonly symbol: string
  readonly decimals: number
}

/** Null if it is not an ERC-20 token. */
export async function symbolAndDecimals(
  { config, reads }: ChainAccess,
  token: Address,
): Promise<TokenFacts | null> {
  if (token === NATIVE_TOKEN) return { symbol: config.native_symbol, decimals: NATIVE_DECIMALS }
  return reads.tokenMetadata(token)
}

/** The amount that the Router's fee leaves for the venue. */
export function netOfFee(amountIn: bigint): bigint {
  return amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
}

/**
 * The fields of every quote (CONTRACT.md, "Quotes"), then the fee's rate and the quote's expiry.
 */
export function quoteFields(
  { hasRouter, nowMs }: Pick<OperationPorts, 'hasRouter' | 'nowMs'>,
  { config }: ChainAccess,
  amountIn: bigint,
  amountOut: bigint,
  feeToken: string,
  decimalsOut: number,
) {
  return {
    amount_in: amountIn.toString(),
    amount_out: formatUnits(amountOut, decimalsOut),
    fee_amount: routerFee(amountIn, SERVICE_FEE_BPS).toString(),
    fee_token: feeToken,
    gas_sponsored: hasRouter(config.id),
    fee_bps: SERVICE_FEE_BPS,
    expires_at: isoTime(nowMs() + QUOTE_LIFETIME_MS),
  }
}
