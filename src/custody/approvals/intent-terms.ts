import { keccak256 } from '../../domain/keccak.js'
import { concat, u16, u64 } from '../../quorum-protocol/bytes.js'
import type { DecodedRouterIntent } from '../../quorum-protocol/router-intent.js'

/**
 * Hashes everything that the account agrees to, except the nonce and deadline of one attempt (32
 * bytes).
 */
export function intentTermsHash(intent: Omit<DecodedRouterIntent, 'digest'>): Uint8Array {
  const { chainId, router, account, tokenIn, amountIn, feeBps, tokenOut, minOut, target } = intent
  return keccak256(
    concat(
      ...[u64(chainId), router, account, tokenIn, amountIn, u16(feeBps), tokenOut, minOut, target],
      keccak256(intent.data),
    ),
  )
}

/**
 * Hashes what the API key requested (32 bytes), without the least output and the venue's calldata,
 * which follow from the price of the moment.
 */
export function intentAskedHash(intent: Omit<DecodedRouterIntent, 'digest'>): Uint8Array {
  const { chainId, router, account, tokenIn, amountIn, feeBps, tokenOut, target } = intent
  return keccak256(
    concat(...[u64(chainId), router, account, tokenIn, amountIn, u16(feeBps), tokenOut, target]),
  )
}
