/** The six supported EVM chains (SPEC, "Supported chains"). */
export const CHAIN_IDS = [1, 10, 56, 137, 8453, 42161] as const

export type ChainId = (typeof CHAIN_IDS)[number]

export const BASE_CHAIN_ID = 8453 satisfies ChainId

/** The ERC-7528 address that stands for a chain's native currency in requests. */
export const NATIVE_TOKEN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE' as const

export function isChainId(value: number): value is ChainId {
  return (CHAIN_IDS as readonly number[]).includes(value)
}
