/** Selectors that several rooms use; a test compares them with their signatures' hashes. */

/** `balanceOf(address)` */
export const BALANCE_OF = '0x70a08231'
/** `allowance(address,address)` */
export const ALLOWANCE = '0xdd62ed3e'
/** `decimals()` */
export const DECIMALS = '0x313ce567'
/** `symbol()` */
export const SYMBOL = '0x95d89b41'
/** `asset()` of ERC-4626 */
export const ASSET = '0x38d52e0f'
/** `allowance(owner, token, spender)` of Permit2 → (amount, expiration, nonce) */
export const PERMIT2_ALLOWANCE = '0x927da105'
/** `latestRoundData()` of Chainlink */
export const LATEST_ROUND_DATA = '0xfeaf968c'
/** `description()` of Chainlink */
export const DESCRIPTION = '0x7284e416'
