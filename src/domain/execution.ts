import type { Address, Hex } from './ids.js'

/** What a sponsored call did, as the Router's event in its receipt says. */
export interface Execution {
  /** Lower-case; whoever emitted the event. It counts only where that is the Router that was called. */
  readonly router: Address
  /** Lower-case, as `tokenOut`. The fee is taken in it. */
  readonly tokenIn: Address
  /** Smallest units of `tokenIn`, the fee included. */
  readonly amountIn: bigint
  /** Smallest units of `tokenIn`. */
  readonly fee: bigint
  readonly tokenOut: Address
  /** By how much the account's balance grew, smallest units of `tokenOut`. */
  readonly amountOut: bigint
}

/**
 * Topic of `AgentRouter.Executed(bytes32 indexed digest, address indexed account, address indexed
 * target, uint256 nonce, address tokenIn, uint256 amountIn, uint256 fee, address tokenOut, uint256
 * amountOut)`.
 */
export const EXECUTED_TOPIC: Hex =
  '0x328bd98a9560c9bf85c156e25f714fbd43eb33731ce18efbe2e9c65f472693ea'

interface Log {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
}

const WORD_CHARS = 64
const WORDS = 6
/** "0x" and what of a word is before an address. */
const ADDRESS_FROM = 24

/** @returns what the last such event says; the Router emits its own after the venue has returned */
export function executionIn(logs: readonly Log[]): Execution | null {
  const log = logs.findLast(({ topics }) => topics[0] === EXECUTED_TOPIC)
  if (log === undefined || log.data.length !== 2 + WORDS * WORD_CHARS) return null
  const word = (at: number) => log.data.slice(2 + at * WORD_CHARS, 2 + (at + 1) * WORD_CHARS)
  const amount = (at: number) => BigInt(`0x${word(at)}`)
  const address = (at: number): Address => `0x${word(at).slice(ADDRESS_FROM).toLowerCase()}`
  return {
    router: log.address.toLowerCase() as Address,
    tokenIn: address(1),
    amountIn: amount(2),
    fee: amount(3),
    tokenOut: address(4),
    amountOut: amount(5),
  }
}
