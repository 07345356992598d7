import { keccak256 } from '../../domain/keccak.js'
import { concat, u16, u64 } from '../../quorum-protocol/bytes.js'
import type { DecodedRouterIntent } from '../../quorum-protocol/router-intent.js'

/** 32 bytes: all that the account takes on, but the nonce and deadline of one attempt. */
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
 * 32 bytes: what the API key asked for. The least output and the venue's calldata follow from the
 * price of a moment.
 */
export function intentAskedHash(intent: Omit<DecodedRouterIntent, 'digest'>): Uint8Array {
  const { chainId, router, account, tokenIn, amountIn, feeBps, tokenOut, target } = intent
  return keccak256(
    concat(...[u64(chainId), router, account, tokenIn, amountIn, u16(feeBps), tokenOut, target]),
  )
}
