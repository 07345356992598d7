import type { Address } from '../domain/ids.js'

/** Deployed at one address on every supported chain (https://docs.uniswap.org, "Permit2"). */
export const PERMIT2: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** Deployed at one address on every supported chain (https://www.multicall3.com/deployments). */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

export const UINT256_MAX = (1n << 256n) - 1n
