/** The bounds of a policy; those of one condition are in its file. */

/** More rules than people can oversee; with 64 the judge still takes microseconds. */
export const RULES_MAX = 64
/** A name fits on one line. */
export const RULE_NAME_CHARS_MAX = 64
/** Beneficiaries and callees of one condition; the bound on the text ends most policies earlier. */
export const ADDRESSES_MAX = 256
export const CEILINGS_MAX = 16
export const BREAKERS_MAX = 8
/** The most sliding windows of a policy; each is counted separately. */
export const WINDOWS_MAX = 8
/** A month: caps and ceilings cover longer times. */
export const PER_SECONDS_MAX = 31 * 86_400
export const COUNT_MAX = 1_000_000
export const APPROVALS_NEEDED_MAX = 10
/** Seven days. */
export const APPROVAL_SECONDS_MAX = 7 * 86_400
export const DELAY_SECONDS_MAX = 7 * 86_400
/** The whole value. */
export const SWAP_LOSS_BPS_MAX = 10_000
export const BREAKER_FACTOR_MAX = 1_000
/** The text is in each grant's bytes, which people sign and both domains keep. */
export const POLICY_TEXT_BYTES_MAX = 16 * 1024
export const UINT256_MAX = 2n ** 256n - 1n
