import { chainFacts } from '../domain/chains.js'
import type { ChainHead } from './heads.js'
import { quantity, record } from './hex.js'

/** EIP-1559 fees of one transaction, wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** What `eth_feeHistory` says of the latest blocks, oldest first. */
export interface FeeHistory {
  /** One entry per block and one for the next block. */
  readonly baseFeesPerGas: readonly bigint[]
  /** Tip at the asked percentile, of blocks that held transactions. */
  readonly tipsPerGas: readonly bigint[]
}

/** Base fees rise by at most 1/8 a block: twice the next one stays valid for six full blocks. */
const BASE_FEE_HEADROOM = 2n

/**
 * Fees that get a transaction into one of the next blocks: the median of recent tips (at least
 * the chain's floor), and twice the next base fee on top of it, both capped by `offerCeiling`.
 * Above it the transaction waits for the base fee to fall; it is never signed for more.
 * @param ceilingWei highest maxFeePerGas the operator allows on this chain
 */
export function feesFor(head: ChainHead, history: FeeHistory, ceilingWei: bigint): Fees {
  const tip = max(median(history.tipsPerGas), chainFacts(head.chainId)?.tipFloorWei ?? 0n)
  const wanted = nextBaseFee(head, history) * BASE_FEE_HEADROOM + tip
  const maxFeePerGas = min(wanted, offerCeiling(ceilingWei))
  return { maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) }
}

/** Base fee of the block after `head`, wei per gas; a node may be a block behind with either. */
export function nextBaseFee(head: ChainHead, history: FeeHistory): bigint {
  return max(history.baseFeesPerGas.at(-1) ?? 0n, head.baseFeePerGas)
}

/** 12.5 %: pools ask for 10 % (geth, erigon, reth), and rounding must not bring us below it. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n

/**
 * Highest fee of a transaction that is meant to land, wei per gas: one bump below the chain's
 * ceiling. Were it offered at the ceiling itself, nothing could replace it, and a lane whose head
 * every node refuses could not even give it up.
 */
export function offerCeiling(ceilingWei: bigint): bigint {
  return (ceilingWei * BUMP_DENOMINATOR) / BUMP_NUMERATOR
}

/**
 * Fees that replace a transaction at the same nonce: both fields at least 12.5 % higher (rounded
 * up, never by less than a wei) and at least what the market asks now.
 * @param previous fees of the transaction to replace
 * @param current what `feesFor` says now
 * @param ceilingWei `offerCeiling` for the same call, the chain's own ceiling for a cancellation
 * @returns null when the ceiling leaves no room for a valid replacement
 */
export function bump(previous: Fees, current: Fees, ceilingWei: bigint): Fees | null {
  const feeNeeded = bumped(previous.maxFeePerGas)
  const tipNeeded = bumped(previous.maxPriorityFeePerGas)
  if (feeNeeded > ceilingWei || tipNeeded > ceilingWei) return null
  const maxFeePerGas = min(max(feeNeeded, tipNeeded, current.maxFeePerGas), ceilingWei)
  const tip = max(tipNeeded, min(current.maxPriorityFeePerGas, maxFeePerGas))
  return { maxFeePerGas, maxPriorityFeePerGas: tip }
}

function bumped(wei: bigint): bigint {
  // Pools also want both fields strictly higher, which matters where the tip is zero.
  return max((wei * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR, wei + 1n)
}

/** Percentile of tips that is asked for; the median transaction of a block got in comfortably. */
export const TIP_PERCENTILE = 50

/**
 * Reads an answer of `eth_feeHistory` asked with one percentile.
 * @throws RpcShapeError
 */
export function parseFeeHistory(value: unknown): FeeHistory {
  const answer = record(value)
  const ratios = Array.isArray(answer.gasUsedRatio) ? answer.gasUsedRatio : []
  const rewards = Array.isArray(answer.reward) ? answer.reward : []
  const tips: bigint[] = []
  rewards.forEach((perBlock: unknown, i) => {
    // Empty blocks report a tip of zero, which is the tip of nobody.
    if (Array.isArray(perBlock) && Number(ratios[i] ?? 0) > 0) tips.push(quantity(perBlock[0]))
  })
  const baseFees: unknown[] = Array.isArray(answer.baseFeePerGas) ? answer.baseFeePerGas : []
  return { baseFeesPerGas: baseFees.map(quantity), tipsPerGas: tips }
}

function median(values: readonly bigint[]): bigint {
  if (values.length === 0) return 0n
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

function max(first: bigint, ...rest: readonly bigint[]): bigint {
  let highest = first
  for (const value of rest) if (value > highest) highest = value
  return highest
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
