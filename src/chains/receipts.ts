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
  /** Everything that was paid to the chain, wei: gas, and on OP-stack chains their other fees. */
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

/** Spends are settled from transfers; a transaction with more logs keeps its reservation. */
const LOGS_MAX = 1_024

/**
 * Reads an answer of `eth_getTransactionReceipt`; null (not mined) stays null.
 * @throws RpcShapeError
 */
export function parseReceipt(value: unknown): Receipt | null {
  if (!isMined(value)) return null
  const receipt = record(value)
  const gasUsed = quantity(receipt.gasUsed)
  const effectiveGasPrice = quantity(receipt.effectiveGasPrice)
  const logs = Array.isArray(receipt.logs) ? receipt.logs : []
  return {
    txHash: fixedHex(receipt.transactionHash, 32),
    blockNumber: quantityNumber(receipt.blockNumber),
    blockHash: fixedHex(receipt.blockHash, 32),
    status: isSuccess(receipt.status) ? 'success' : 'reverted',
    gasUsed,
    effectiveGasPrice,
    // The OP stack charges these in addition to gas, outside gasUsed. Arbitrum includes them in
    // gasUsed.
    feeWei: gasUsed * effectiveGasPrice + optional(receipt.l1Fee) + operatorFee(receipt, gasUsed),
    logs: logs.slice(0, LOGS_MAX).map(parseLog),
    // Without a list of logs it is unknown what moved, and the reservation stands.
    logsTruncated: !Array.isArray(receipt.logs) || logs.length > LOGS_MAX,
  }
}

function optional(value: unknown): bigint {
  return value === undefined || value === null ? 0n : quantity(value)
}

/**
 * OP stack, "Operator fee": since Isthmus in millionths of a wei per gas, since Jovian in hundreds
 * of wei. A receipt of Jovian has a field that this fork added.
 */
function operatorFee(receipt: Readonly<Record<string, unknown>>, gasUsed: bigint): bigint {
  const byGas = gasUsed * optional(receipt.operatorFeeScalar)
  const isJovian = optional(receipt.daFootprintGasScalar) > 0n
  const scaled = isJovian ? byGas * 100n : byGas / 1_000_000n
  return scaled + optional(receipt.operatorFeeConstant)
}

/** Some nodes answer for a transaction in their pool and leave the block null. */
function isMined(value: unknown): boolean {
  if (value === null || value === undefined) return false
  return record(value).blockHash != null
}

/** EIP-658 has 0x1 and 0x0; gateways write numbers, digits and booleans. */
function isSuccess(status: unknown): boolean {
  if (typeof status === 'boolean') return status
  if (status === '0' || status === '1') return status === '1'
  return quantityNumber(status) === 1
}

/** Whether it is a receipt of a mined transaction without the price of a unit of gas. */
export function lacksGasPrice(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { blockHash, effectiveGasPrice } = value as Readonly<Record<string, unknown>>
  return blockHash != null && effectiveGasPrice == null
}

/**
 * The price of a unit of gas, from the transaction and its block (EIP-1559); when the base fee is
 * unknown, the price that the node names, or the most that the transaction permitted.
 * @throws RpcShapeError
 */
export function gasPriceOf(transaction: unknown, block: unknown): bigint {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = record(transaction)
  const baseFee = record(block ?? {}).baseFeePerGas
  if (maxFeePerGas != null && maxPriorityFeePerGas != null && baseFee != null) {
    const most = quantity(maxFeePerGas)
    const offered = quantity(baseFee) + quantity(maxPriorityFeePerGas)
    if (offered < most) return offered
    return most
  }
  return quantity(gasPrice ?? maxFeePerGas)
}

/** The logs that given contracts emitted in a transaction. */
export interface ReceiptOf {
  readonly blockHash: Hex
  readonly logs: readonly ReceiptLog[]
}

/**
 * Each log costs at least 375 gas, and no transaction may use more than 2^24 (EIP-7825), or on
 * Arbitrum more than a block's 32 million: more logs than this cannot exist, so nothing can be
 * hidden behind them.
 */
export const LOGS_OF_MAX = 90_000

/**
 * Reads everything that some contracts logged from an answer of `eth_getTransactionReceipt`; null
 * (not mined) stays null.
 * @param emitters lower-case
 * @throws RpcShapeError
 */
export function parseReceiptOf(value: unknown, emitters: ReadonlySet<string>): ReceiptOf | null {
  if (!isMined(value)) return null
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
