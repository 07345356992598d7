import type { Hex } from '../domain/ids.js'
import { fixedHex, quantity, quantityNumber, record } from './hex.js'

/** The head of a chain as one node sees it. */
export interface ChainHead {
  readonly chainId: number
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  /** The block's own timestamp, milliseconds since the Unix epoch. */
  readonly timestampMs: number
  /** Wei; zero when the chain has no base fee (BNB Chain). */
  readonly baseFeePerGas: bigint
}

/** A block without its transactions' bodies. */
export interface BlockSummary extends ChainHead {
  readonly gasLimit: bigint
  readonly txHashes: readonly Hex[]
}

/**
 * Reads a block object of `eth_getBlockByNumber` with hashes only; null stays null.
 * @throws RpcShapeError
 */
export function parseBlock(chainId: number, value: unknown): BlockSummary | null {
  if (value === null || value === undefined) return null
  const block = record(value)
  const { transactions } = block
  return {
    chainId,
    number: quantityNumber(block.number),
    hash: fixedHex(block.hash, 32),
    parentHash: fixedHex(block.parentHash, 32),
    timestampMs: quantityNumber(block.timestamp) * 1_000,
    // Null and absent mean the same: other sources of fees give the base fee, when there is one.
    baseFeePerGas: block.baseFeePerGas == null ? 0n : quantity(block.baseFeePerGas),
    gasLimit: quantity(block.gasLimit),
    txHashes: Array.isArray(transactions) ? transactions.map((hash) => fixedHex(hash, 32)) : [],
  }
}
