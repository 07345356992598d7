import type { BroadcastOutcome, Certainty } from './broadcast-outcome.js'
import { boundedText, RpcCallError } from './errors.js'
import { NODE_ERROR_ROWS, type NodeErrorRow } from './node-errors.js'

export interface NodeVerdict {
  readonly outcome: BroadcastOutcome
  readonly certainty: Certainty
}

/** Texts are matched up to this length: patterns must never walk a megabyte of a hostile answer. */
const MATCHED_LENGTH_MAX = 1_024

/**
 * JSON-RPC "limit exceeded" (EIP-1474), used by providers for rate limits. Their words are their
 * own: they may say "insufficient funds" of compute units.
 */
const CODE_LIMIT_EXCEEDED = -32005

/**
 * @param code JSON-RPC error code, 0 when absent
 * @param message the node's text
 * @returns the verdict of the first matching row; `indeterminate` when no row knows the text: a
 *   gateway says "internal error" also after it has passed the bytes on, and giving up nonce and
 *   reservation on words nobody has understood could double a payment
 */
export function classifyNodeError(code: number, message: string): NodeVerdict {
  const text = boundedText(message)
  const matched = message.slice(0, MATCHED_LENGTH_MAX)
  if (code !== CODE_LIMIT_EXCEEDED) {
    for (const row of NODE_ERROR_ROWS) {
      if (row.pattern.test(matched)) return verdict(row, text)
    }
  }
  return { outcome: { kind: 'indeterminate', text }, certainty: 'state' }
}

function verdict(row: NodeErrorRow, text: string): NodeVerdict {
  const { verdict: then } = row
  switch (then.kind) {
    case 'known':
      return { outcome: { kind: 'known' }, certainty: 'state' }
    case 'rejected':
      return {
        outcome: { kind: 'rejected', reason: then.reason, text },
        certainty: then.certainty,
      }
    case 'underpriced':
      return {
        outcome: { kind: 'underpriced', against: then.against, text },
        certainty: 'state',
      }
    default:
      return { outcome: { kind: then.kind, text }, certainty: 'state' }
  }
}

const ENDPOINT_FAULT_CODES: ReadonlySet<number> = new Set([
  // EIP-1474: method not supported, limit exceeded, resource unavailable; JSON-RPC: method not
  // found, internal error.
  -32004,
  CODE_LIMIT_EXCEEDED,
  -32002,
  -32601,
  -32603,
])
const ENDPOINT_FAULT_TEXT =
  /header not found|missing trie node|state (?:is )?(?:not available|unavailable)|no state|block not found|unknown block|rate limit|too many requests|capacity|compute units|timed? ?out|deadline exceeded|syncing|not synced|bad gateway|unavailable/i

/**
 * True when a read's error speaks of the endpoint (lag, pruning, limits) and not of the call, so
 * that another endpoint may well answer. A revert is an answer.
 */
export function isEndpointFault(code: number, message: string): boolean {
  if (code === 3 || /revert/i.test(message.slice(0, MATCHED_LENGTH_MAX))) return false
  return (
    ENDPOINT_FAULT_CODES.has(code) || ENDPOINT_FAULT_TEXT.test(message.slice(0, MATCHED_LENGTH_MAX))
  )
}

/**
 * As geth and its forks, nitro, erigon, nethermind, reth, besu and anvil say that they no longer have
 * the state of a block that they have.
 */
const PRUNED_TEXT =
  /missing ?trie ?node|historical state|state (?:is |at |for |of )?.{0,80}(?:pruned|not available|unavailable)|no state available|world state|BlockOutOfRange/i

/** True when a node answers that it has the block and its state no more; never of a busy one. */
export function isPruned(error: Error): boolean {
  if (!(error instanceof RpcCallError) || error.code === CODE_LIMIT_EXCEEDED) return false
  return PRUNED_TEXT.test(error.message.slice(0, MATCHED_LENGTH_MAX))
}

/** Why a read that runs a transaction (`eth_call`, `eth_estimateGas`) gave an error. */
export type CallErrorKind = 'reverted' | 'insufficient-funds' | 'other'

export function classifyCallError(code: number, message: string): CallErrorKind {
  const matched = message.slice(0, MATCHED_LENGTH_MAX)
  // Code 3 is geth's, and since copied by all; older nodes only say it in words.
  if (
    code === 3 ||
    /execution reverted|\brevert(?:ed)?\b|invalid opcode|out of gas/i.test(matched)
  ) {
    return 'reverted'
  }
  if (/insufficient (?:funds|balance)|gas required exceeds allowance/i.test(matched)) {
    return 'insufficient-funds'
  }
  return 'other'
}
