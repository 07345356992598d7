import type { Address, Hex } from '../domain/ids.js'

/**
 * The Router's intent as data: names, types and bounds, without any library, so that a signer can
 * hash an intent from these constants alone. The Solidity counterpart is `router/RouterIntent.sol`.
 */
export interface RouterIntent {
  /** The sub-wallet, which pays, signs and receives. */
  readonly account: Address
  /** The asset that is pulled from the account; native currency is the ERC-7528 address. */
  readonly tokenIn: Address
  /** In smallest units of `tokenIn`, fee included; above 0. */
  readonly amountIn: bigint
  /** Basis points of `amountIn`, 0 to `ROUTER_FEE_BPS_MAX`. */
  readonly feeBps: number
  /** The asset whose balance at the account must grow; never `tokenIn`. */
  readonly tokenOut: Address
  /** In smallest units of `tokenOut`; above 0. */
  readonly minOut: bigint
  /** The venue that is called. */
  readonly target: Address
  /** Unordered, per account; consecutive numbers cost the least gas. */
  readonly nonce: bigint
  /** Unix seconds by the block's clock, at most `ROUTER_INTENT_LIFETIME_SECONDS_MAX` ahead. */
  readonly deadline: number
  /** The calldata for `target`, selector included. */
  readonly data: Hex
}

/** EIP-712 domain, besides `chainId` and `verifyingContract` (the Router). */
export const ROUTER_DOMAIN = { name: 'Countersign AgentRouter', version: '1' } as const

/** The fields in the order of the EIP-712 type. */
export const ROUTER_INTENT_FIELDS = [
  { name: 'account', type: 'address' },
  { name: 'tokenIn', type: 'address' },
  { name: 'amountIn', type: 'uint256' },
  { name: 'feeBps', type: 'uint16' },
  { name: 'tokenOut', type: 'address' },
  { name: 'minOut', type: 'uint256' },
  { name: 'target', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint48' },
  { name: 'data', type: 'bytes' },
] as const satisfies readonly { name: keyof RouterIntent; type: string }[]

/** The EIP-712 type string, whose keccak256 is the type hash. */
export const ROUTER_INTENT_TYPE = `Intent(${ROUTER_INTENT_FIELDS.map((f) => `${f.type} ${f.name}`).join(',')})`

/** `MAX_FEE_BPS` of the Router: 1 %. */
export const ROUTER_FEE_BPS_MAX = 100

/** `MAX_LIFETIME` of the Router. Sign for less, because clocks differ. */
export const ROUTER_INTENT_LIFETIME_SECONDS_MAX = 600

/**
 * The fee that the Router takes, in smallest units of the input asset, rounded down. The venue's
 * calldata must spend exactly `amountIn - routerFee(amountIn, feeBps)`.
 */
export function routerFee(amountIn: bigint, feeBps: number): bigint {
  return (amountIn * BigInt(feeBps)) / 10_000n
}
