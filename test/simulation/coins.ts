import { powerOfTen } from '../../src/domain/money.js'

/** What the native coins of chains are worth. */

/** Of Ethereum, when a run begins. */
export const ETHER_PRICE = { value: 2_000n * 10n ** 8n, decimals: 8 }
const WHOLE = 10_000n
/** Of what Ethereum's is worth, in ten-thousandths; absent: the same coin. */
const SHARES: ReadonlyMap<number, bigint> = new Map([
  [56, 2_500n],
  [137, 5n],
])

function shareOf(chainId: number): bigint {
  return SHARES.get(chainId) ?? WHOLE
}

/** @param ether what Ethereum's is worth by then */
export function priceOn(chainId: number, ether = ETHER_PRICE.value) {
  return { value: (ether * shareOf(chainId)) / WHOLE, decimals: ETHER_PRICE.decimals }
}

/** So many millionths of a dollar, by the price at the beginning. */
export function weiOf(chainId: number, micros: bigint): bigint {
  const { value, decimals } = priceOn(chainId)
  return (micros * 10n ** 12n * powerOfTen(decimals)) / value
}
