import type { Address, Hex } from '../domain/ids.js'
import { fixedHex, quantity, quantityNumber, record } from './hex.js'
import { RpcShapeError } from './rpc/errors.js'

export interface Receipt {
  readonly txHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly status: 'success' | 'reverted'
  readonly gasUsed: bigint
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint
  /** All that was paid to the chain, wei: gas, and on OP-stack chains the L1 data fee beside it. */
  readonly feeWei: bigint
  readonly logs: readonly ReceiptLog[]
  /** True when the receipt held more logs than are kept. */
  readonly logsTruncated: boolean
}

export interface ReceiptLog {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** Spends are settled from transfers; a transaction with more has its reservation stand. */
const LOGS_MAX = 1_024

/**
 * Reads an answer of `eth_getTransactionReceipt`; null (not mined) stays null.
 * @throws RpcShapeError
 */
export function parseReceipt(value: unknown): Receipt | null {
  if (value === null || value === undefined) return null
  const receipt = record(value)
  const gasUsed = quantity(receipt.gasUsed)
  // Every client since EIP-1559 sends it; without it the fee would be a guess.
  const effectiveGasPrice = quantity(receipt.effectiveGasPrice)
  // OP stack: charged beside gas, not within gasUsed. Arbitrum counts it in gasUsed.
  const l1FeeWei =
    receipt.l1Fee === undefined || receipt.l1Fee === null ? 0n : quantity(receipt.l1Fee)
  const logs = Array.isArray(receipt.logs) ? receipt.logs : []
  return {
    txHash: fixedHex(receipt.transactionHash, 32),
    blockNumber: quantityNumber(receipt.blockNumber),
    blockHash: fixedHex(receipt.blockHash, 32),
    status: quantityNumber(receipt.status) === 1 ? 'success' : 'reverted',
    gasUsed,
    effectiveGasPrice,
    feeWei: gasUsed * effectiveGasPrice + l1FeeWei,
    logs: logs.slice(0, LOGS_MAX).map(parseLog),
    logsTruncated: logs.length > LOGS_MAX,
  }
}

/** @throws RpcShapeError */
export function parseLog(value: unknown): ReceiptLog {
  const log = record(value)
  if (!Array.isArray(log.topics) || typeof log.data !== 'string') throw new RpcShapeError('log')
  return {
    address: fixedHex(log.address, 20),
    topics: log.topics.slice(0, 4).map((topic) => fixedHex(topic, 32)),
    data: log.data as Hex,
  }
}
