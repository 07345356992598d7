import { FaultError, fault } from '../../errors/fault.js'
import { classifyCallError } from './classify.js'
import { RpcCallError, RpcEmptyError, RpcShapeError } from './errors.js'
import type { RpcResult } from './types.js'

/**
 * The one place that tells an answer to a read from a node that does not answer it. A result of the
 * method's shape is an answer, and so is a revert. Everything else is a fault of the endpoint: the
 * next endpoint is tried, and it is never a statement about a balance, a token or a list.
 */

export interface ReadCall {
  readonly method: string
  /** The called address is known to have code, so an empty result is not an answer. */
  readonly hasCode?: true
}

/** Methods that run a call, and so can report that it fails. */
const RUNS_A_CALL: ReadonlySet<string> = new Set([
  'eth_call',
  'eth_estimateGas',
  'eth_simulateV1',
  'debug_traceCall',
])

export function isAnswer(call: ReadCall, result: RpcResult): boolean {
  if (result.ok) return hasShape(call, result.value)
  const { error } = result
  if (!(error instanceof RpcCallError) || !RUNS_A_CALL.has(call.method)) return false
  return classifyCallError(error.code, error.message) === 'reverted'
}

/**
 * The result for the caller when no endpoint answered.
 * @param last the last result of an endpoint that is not an answer, or undefined
 */
export function withoutAnswer(
  chainId: number,
  { method }: ReadCall,
  last: RpcResult | undefined,
): RpcResult {
  if (last === undefined) return unavailable(chainId)
  if (method === 'eth_call') return unavailable(chainId, last)
  if (last.ok || !(last.error instanceof RpcCallError)) return last
  if (method !== 'eth_estimateGas') return last
  // All endpoints agree, so the cause is the call: its funds, or a loop without a limit.
  const kind = classifyCallError(last.error.code, last.error.message)
  return kind === 'refused' ? unavailable(chainId, last) : last
}

/** @param last an endpoint's result that is not an answer */
export function unavailable(chainId: number, last?: RpcResult): RpcResult {
  const cause = last === undefined ? undefined : causeOf(last)
  const words = cause === undefined ? undefined : `no endpoint answered; one said: ${cause.message}`
  const f = fault('CHAIN_UNAVAILABLE', { chain_id: chainId }, undefined, words)
  return { ok: false, error: new FaultError(f, cause === undefined ? {} : { cause }) }
}

function causeOf(last: RpcResult): Error {
  if (!last.ok) return last.error
  return last.value === '0x' ? new RpcEmptyError() : new RpcShapeError('the result of a call')
}

/** Results are checked only as far as needed to recognise the method's own. */
const SHAPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  eth_call: isHex,
  eth_getCode: isHex,
  eth_getBalance: isQuantity,
  eth_getTransactionCount: isQuantity,
  eth_blockNumber: isQuantity,
  eth_gasPrice: isQuantity,
  eth_maxPriorityFeePerGas: isQuantity,
  eth_estimateGas: isQuantity,
  eth_getBlockByNumber: isBlock,
  eth_getLogs: Array.isArray,
  eth_feeHistory: isFeeHistory,
  eth_getTransactionReceipt: isReceipt,
}

function hasShape({ method, hasCode }: ReadCall, value: unknown): boolean {
  if (hasCode === true && value === '0x') return false
  return SHAPES[method]?.(value) ?? true
}

function isHex(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('0x')
}

function isQuantity(value: unknown): boolean {
  return typeof value === 'number' || (isHex(value) && value !== '0x')
}

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isFeeHistory(value: unknown): boolean {
  if (!isObject(value)) return false
  const { baseFeePerGas } = value
  return Array.isArray(baseFeePerGas) && baseFeePerGas.length > 0
}

/** Null and an absent result mean that the node does not have the block. */
function isBlock(value: unknown): boolean {
  if (value === null || value === undefined) return true
  return isObject(value) && value.number != null && value.hash != null && value.timestamp != null
}

function isReceipt(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (!isObject(value)) return false
  const { blockHash, status, gasUsed, effectiveGasPrice, logs } = value
  if (blockHash == null) return true
  return status != null && gasUsed != null && effectiveGasPrice != null && Array.isArray(logs)
}
