import type { BroadcastOutcome } from './broadcast-outcome.js'
import { boundedText, RpcCallError } from './errors.js'
import { NODE_ERROR_ROWS, type NodeErrorRow } from './node-errors.js'

/** Texts are matched up to this length: patterns must never scan a megabyte of a hostile answer. */
const MATCHED_LENGTH_MAX = 1_024

/**
 * JSON-RPC "limit exceeded" (EIP-1474), used by providers for rate limits. Their texts follow no
 * standard: "insufficient funds" may mean compute units.
 */
const CODE_LIMIT_EXCEEDED = -32005

/**
 * @param code JSON-RPC error code, 0 when absent
 * @param message the node's text
 * @returns the outcome of the first matching row; `indeterminate` when no row matches the text: a
 * gateway also answers "internal error" after it has passed the bytes on, and giving up nonce and
 * reservation because of an unknown text could double a payment
 */
export function classifyNodeError(code: number, message: string): BroadcastOutcome {
  const text = boundedText(message)
  const matched = message.slice(0, MATCHED_LENGTH_MAX)
  if (code !== CODE_LIMIT_EXCEEDED) {
    for (const row of NODE_ERROR_ROWS) {
      if (row.pattern.test(matched)) return verdict(row, text)
    }
  }
  return { kind: 'indeterminate', text }
}

function verdict(row: NodeErrorRow, text: string): BroadcastOutcome {
  const { verdict: then } = row
  switch (then.kind) {
    case 'known':
      return { kind: 'known' }
    case 'rejected':
      return { kind: 'rejected', reason: then.reason, text }
    case 'underpriced':
      return { kind: 'underpriced', against: then.against, text }
    default:
      return { kind: then.kind, text }
  }
}

/**
 * The texts with which geth and its forks, nitro, erigon, nethermind, reth, besu and anvil report
 * that they no longer have the state of a block that they have.
 */
const PRUNED_TEXT =
  /missing ?trie ?node|historical state|state (?:is |at |for |of )?.{0,80}(?:pruned|not available|unavailable)|no state available|world state|BlockOutOfRange/i

/**
 * True when a node answers that it has the block but no longer its state; never for a busy node.
 */
export function isPruned(error: Error): boolean {
  if (!(error instanceof RpcCallError) || error.code === CODE_LIMIT_EXCEEDED) return false
  return PRUNED_TEXT.test(error.message.slice(0, MATCHED_LENGTH_MAX))
}

/**
 * The meaning of an error for the call that a node was asked to run. `reverted`: the contract
 * refused it. `halted`: the EVM ended it otherwise, perhaps for a limit of that node. `refused`:
 * the node did not run it.
 */
export type CallErrorKind = 'reverted' | 'halted' | 'insufficient-funds' | 'refused'

/**
 * geth's code for a revert, which other nodes have copied. Some providers also use it for refusals.
 */
const CODE_REVERTED = 3
/** "VM execution error" of OpenEthereum and Nethermind. */
const CODE_VM_ERROR = -32015
/** The texts of geth and its forks, anvil, besu, Hardhat and Ganache, OpenEthereum. */
const REVERTED_TEXT =
  /execution reverted|transaction reverted|(?:^|: )revert(?:ed)?\b|EvmError: Revert\b|revert opcode/i
const HALTED_TEXT =
  /invalid opcode|bad instruction|out of gas|OutOfGas|invalid jump|stack (?:under|over)flow|stack limit reached|write protection|return data out of bounds|EVM error|\bEvmError\b/i
const FUNDS_TEXT = /insufficient (?:funds|balance)|gas required exceeds allowance/i

export function classifyCallError(code: number, message: string): CallErrorKind {
  if (code === CODE_LIMIT_EXCEEDED) return 'refused'
  const matched = message.slice(0, MATCHED_LENGTH_MAX)
  if (REVERTED_TEXT.test(matched)) return 'reverted'
  if (code === CODE_VM_ERROR || (code === CODE_REVERTED && /revert/i.test(matched)))
    return 'reverted'
  if (HALTED_TEXT.test(matched)) return 'halted'
  return FUNDS_TEXT.test(matched) ? 'insufficient-funds' : 'refused'
}
