import type { Address, Hex } from './ids.js'

/** The result of a sponsored call, according to the Router's event in its receipt. */
export interface Execution {
  /**
   * The address that emitted the event, lower-case. It counts only when it is the Router that was
   * called.
   */
  readonly router: Address
  /** Lower-case, like `tokenOut`. The fee is taken in this token. */
  readonly tokenIn: Address
  /** In smallest units of `tokenIn`, fee included. */
  readonly amountIn: bigint
  /** In smallest units of `tokenIn`. */
  readonly fee: bigint
  readonly tokenOut: Address
  /** The growth of the account's balance, in smallest units of `tokenOut`. */
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
/** "0x" and the zero bytes of a word before an address. */
const ADDRESS_FROM = 24

/**
 * @returns the content of the last such event; the Router emits its own after the venue has
 * returned
 */
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
