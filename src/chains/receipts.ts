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
  /** All that was paid to the chain, wei: gas, and on OP-stack chains the L1 data fee besides it. */
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
  // OP stack: charged besides gas, not within gasUsed. Arbitrum counts it in gasUsed.
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

/** What contracts of one's choice logged in a transaction. */
export interface ReceiptOf {
  readonly blockHash: Hex
  readonly logs: readonly ReceiptLog[]
}

/**
 * Each log costs 375 gas at least, and no transaction may use more than 2^24 (EIP-7825), or on
 * Arbitrum than a block's 32 million: whoever hides something behind many logs cannot make more.
 */
export const LOGS_OF_MAX = 90_000

/**
 * Reads all that some contracts logged from an answer of `eth_getTransactionReceipt`; null (not
 * mined) stays null.
 * @param emitters lower-case
 * @throws RpcShapeError
 */
export function parseReceiptOf(value: unknown, emitters: ReadonlySet<string>): ReceiptOf | null {
  if (value === null || value === undefined) return null
  const { blockHash, logs } = record(value)
  if (!Array.isArray(logs) || logs.length > LOGS_OF_MAX) throw new RpcShapeError('logs')
  const own = logs.filter((log: unknown) => {
    const { address } = record(log)
    return typeof address === 'string' && emitters.has(address.toLowerCase())
  })
  return { blockHash: fixedHex(blockHash, 32), logs: own.map(parseLog) }
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
