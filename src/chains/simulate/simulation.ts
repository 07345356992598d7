import type { Address, Hex } from '../../domain/ids.js'

/**
 * What a call would do, as a node runs it now. A forecast, not a bound: a contract can behave
 * differently when it is mined. Addresses are checksummed.
 */
export interface Simulation {
  readonly success: boolean
  /** Null on success. `reverted` covers every failure of the call's own code. */
  readonly failure: 'reverted' | 'insufficient-funds' | null
  /** What the contract said; null on success. Printable and short. */
  readonly revertReason: string | null
  readonly gasUsed: bigint
  /** All movements of all parties, in no promised order; empty when the call fails. */
  readonly transfers: readonly SimulatedTransfer[]
  readonly approvals: readonly SimulatedApproval[]
  /** Recipient, and every contract or party seen on the way. */
  readonly touched: readonly Address[]
  /** True when something was left out for size; what follows from the lists is then no bound. */
  readonly truncated: boolean
}

export type SimulationMethod = 'eth_simulateV1' | 'debug_traceCall'

export interface SimulatedTransfer {
  /** Null is the chain's native currency. */
  readonly token: Address | null
  readonly from: Address
  readonly to: Address
  /** Smallest units; 1 for an ERC-721. */
  readonly amount: bigint
  readonly kind: 'native' | 'erc20' | 'erc721' | 'erc1155'
  /** ERC-721 and ERC-1155 only. */
  readonly tokenId?: bigint
}

export interface SimulatedApproval {
  readonly token: Address
  readonly owner: Address
  readonly spender: Address
  /**
   * Smallest units; 0 takes the approval away. `all` is setApprovalForAll, which covers every
   * item of the collection now and later.
   */
  readonly amount: bigint | 'all'
  readonly kind: 'erc20' | 'erc721' | 'collection' | 'permit2'
}

export interface SimulatedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** Wei. */
  readonly value: bigint
}

/** Run before a call, from the same account and in the same block. */
export interface EarlierCall extends Pick<SimulatedCall, 'to' | 'data' | 'value'> {
  readonly gasLimit: bigint
}

/** The state that an account's own calls would leave, run one after the other upon a block. */
export interface StateAfter {
  readonly from: Address
  readonly block: number
  readonly earlier: readonly EarlierCall[]
}

export type StateOverride = Readonly<Record<Address, AccountOverride>>

export interface AccountOverride {
  /** Wei. */
  readonly balance?: bigint
  /** Runs in place of the account's code; an EIP-7702 designator delegates. */
  readonly code?: Hex
}
