/** EIP-7825: no transaction may have a higher gas limit. Arbitrum has a limit of its own kind. */
export const TX_GAS_CAP = 16_777_216n

const ARBITRUM = 42_161
/**
 * Arbitrum lets a transaction compute for 32 million gas and adds its L1 data as gas, at Ethereum's
 * prices. The same amount again covers a call of some kilobytes when Ethereum is expensive.
 */
const ARBITRUM_GAS_LIMIT_MAX = 64_000_000n

/** The exact gas of a transfer to an account without code (Yellow Paper, G_transaction). */
const TRANSFER_GAS = 21_000n
/** The same on Arbitrum, which bills L1 data as gas. */
const ARBITRUM_TRANSFER_GAS = 100_000n

/**
 * The gas limit of a call that moves nothing and only uses a nonce: exactly this, so that it cannot
 * burn more. An account with code runs out of gas at this limit, which uses the nonce as well.
 */
export function selfSendGasLimit(chainId: number): bigint {
  return chainId === ARBITRUM ? ARBITRUM_TRANSFER_GAS : TRANSFER_GAS
}

/** The highest gas limit on a chain for which neither `chains.json` nor the registry sets one. */
export function defaultMaxGasLimit(chainId: number): bigint {
  return chainId === ARBITRUM ? ARBITRUM_GAS_LIMIT_MAX : TX_GAS_CAP
}
