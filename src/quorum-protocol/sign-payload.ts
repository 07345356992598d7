import type { RouterIntent } from '../contracts/router-intent-type.js'
import type { Address, Hex } from '../domain/ids.js'

/** The three payload types that the quorum signs, and no others. */
export type SignPayload = TransactionPayload | AuthorizationPayload | RouterIntentPayload

/** EIP-1559 transaction; also type 4 when `authorizationList` is set (gas wallets). */
export interface TransactionPayload {
  readonly type: 'transaction'
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly authorizationList?: readonly SignedAuthorization[]
}

/** EIP-7702 authorization of our delegate, or of the zero address (undelegate). */
export interface AuthorizationPayload {
  readonly type: 'authorization'
  readonly chainId: number
  readonly nonce: number
  readonly delegate: Address
}

/** EIP-712 `Intent` of the AgentRouter. `RouterIntent.sol` has the meaning of each field. */
export interface RouterIntentPayload {
  readonly type: 'router-intent'
  readonly chainId: number
  readonly verifyingContract: Address
  readonly intent: RouterIntent
}

export interface SignedAuthorization {
  readonly chainId: number
  readonly address: Address
  readonly nonce: number
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
}
