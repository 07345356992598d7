/** 12.5 %: pools require 10 % (geth, erigon, reth), and rounding must not bring us below it. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n

/** The least fee that replaces a fee at the same nonce, wei per gas. */
export function bumpedFee(wei: bigint): bigint {
  const bumped = (wei * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR
  // Pools also require both fields to be strictly higher, which matters when the tip is zero.
  return bumped > wei ? bumped : wei + 1n
}

/** The highest fee from which one bump stays within `ceilingWei`. */
export function oneBumpBelow(ceilingWei: bigint): bigint {
  return (ceilingWei * BUMP_DENOMINATOR) / BUMP_NUMERATOR
}
