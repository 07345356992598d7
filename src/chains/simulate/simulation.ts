import type { Address, Hex } from '../../domain/ids.js'

/**
 * The predicted effect of a call, as a node runs it now. It is a forecast and not a bound: a
 * contract can behave differently when it is mined. Addresses are checksummed.
 */
export interface Simulation {
  readonly success: boolean
  /** Null on success. `reverted` covers every failure of the call's own code. */
  readonly failure: 'reverted' | 'insufficient-funds' | null
  /** The contract's error; null on success. Printable and short. */
  readonly revertReason: string | null
  readonly gasUsed: bigint
  /** All movements of all addresses, in no guaranteed order; empty when the call fails. */
  readonly transfers: readonly SimulatedTransfer[]
  readonly approvals: readonly SimulatedApproval[]
  /** The callee, and every contract or address that the simulation reached. */
  readonly touched: readonly Address[]
  /** True when something was left out for its size; the lists are then not a bound. */
  readonly truncated: boolean
}

export type SimulationMethod = 'eth_simulateV1' | 'debug_traceCall'

export interface SimulatedTransfer {
  /** Null for the chain's native currency. */
  readonly token: Address | null
  readonly from: Address
  readonly to: Address
  /** In smallest units; 1 for an ERC-721 token. */
  readonly amount: bigint
  readonly kind: 'native' | 'erc20' | 'erc721' | 'erc1155'
  /** Set for ERC-721 and ERC-1155. */
  readonly tokenId?: bigint
}

export interface SimulatedApproval {
  readonly token: Address
  readonly owner: Address
  readonly spender: Address
  /**
   * In smallest units; 0 removes the allowance. `all` is setApprovalForAll, which covers every
   * token of the collection now and later.
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

/** Simulated before a call, from the same account and in the same block. */
export interface EarlierCall extends Pick<SimulatedCall, 'to' | 'data' | 'value'> {
  readonly gasLimit: bigint
}

/** The state that an account's own calls would leave, simulated in order on a block. */
export interface StateAfter {
  readonly from: Address
  readonly block: number
  readonly earlier: readonly EarlierCall[]
}

export type StateOverride = Readonly<Record<Address, AccountOverride>>

interface AccountOverride {
  /** Wei. */
  readonly balance?: bigint
  /** Runs in place of the account's code; an EIP-7702 designator delegates. */
  readonly code?: Hex
}
