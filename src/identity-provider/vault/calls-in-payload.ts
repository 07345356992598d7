import { BASE_CHAIN_ID } from '../../domain/chains.js'
import { type CallShown, NATIVE_ADDRESS, showCall, showIntent } from '../../policy/call-shown.js'
import type { Operation } from '../../policy/call-terms.js'
import { bigintOf } from '../../quorum-protocol/bytes.js'
import type { DecodedRouterIntent } from '../../quorum-protocol/router-intent.js'
import { type DecodedTransaction, toHex } from '../../quorum-protocol/transaction.js'

/** `deposit(uint256,address)` and `redeem(uint256,address,address)` of ERC-4626. */
const DEPOSIT = '0x6e553f65'
const REDEEM = '0xba087652'

/**
 * Derives the call from the payload's bytes only, whatever the service says about it. A transaction
 * of a user's wallet is a send, also to the Router, because the Router executes only for its
 * relayers.
 * @returns more than one reading when the bytes allow several operations
 */
export function callsIn(payload: DecodedTransaction | DecodedRouterIntent): readonly CallShown[] {
  if (payload.kind === 'transaction') {
    const { chainId, value } = payload
    const to = toHex(payload.to)
    return [showCall({ operation: 'send', chainId, to, value, data: toHex(payload.data) })]
  }
  const terms = {
    tokenIn: toHex(payload.tokenIn),
    amountIn: bigintOf(payload.amountIn),
    target: toHex(payload.target),
    data: toHex(payload.data),
    tokenOut: toHex(payload.tokenOut),
  }
  return operationsOf(payload.chainId, terms).map((operation) =>
    showIntent(operation, payload.chainId, terms),
  )
}

interface Traded {
  readonly tokenIn: string
  readonly tokenOut: string
  readonly target: string
  readonly data: string
}

/**
 * Returns the operations that the venue's function can mean. Buying gas looks like any swap to the
 * native currency.
 */
function operationsOf(
  chainId: number,
  { tokenIn, tokenOut, target, data }: Traded,
): readonly Operation[] {
  if (data.startsWith(DEPOSIT) && target === tokenOut) return ['defi_deposit']
  if (data.startsWith(REDEEM) && target === tokenIn) return ['defi_withdraw']
  const mayBeGas = chainId === BASE_CHAIN_ID && tokenOut === NATIVE_ADDRESS
  return mayBeGas ? ['swap', 'gas_swap'] : ['swap']
}
