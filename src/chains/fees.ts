import { chainFacts } from '../domain/chains.js'
import { bumpedFee, oneBumpBelow } from '../domain/replacement-fee.js'
import type { ChainHead } from './heads.js'
import { quantity } from './hex.js'

/** EIP-1559 fees of one transaction, wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The content of `eth_feeHistory` for the latest blocks, oldest first. */
export interface FeeHistory {
  /** One entry per block and one for the next block. */
  readonly baseFeesPerGas: readonly bigint[]
  /**
   * The median tip of each block with transactions; null when the node gave none that is usable.
   */
  readonly tipsPerGas: readonly bigint[] | null
  /** The median over all blocks of their low tips, 0 for an empty block; null when unknown. */
  readonly lowTipPerGas: bigint | null
  /** True when most blocks were nearly full, so that a low tip may have to wait. */
  readonly isCrowded: boolean
}

const NO_HISTORY: FeeHistory = {
  baseFeesPerGas: [],
  tipsPerGas: null,
  lowTipPerGas: null,
  isCrowded: false,
}

/** Base fees rise by at most 1/8 per block: twice the next one stays valid for six full blocks. */
const BASE_FEE_HEADROOM = 2n

/**
 * A single tip of 700 gwei must not become ours. Blocks that are not full accept any tip, and full
 * ones raise the base fee, so a fair tip is never far above the base fee, nor above what the
 * cheapest transactions of recent blocks paid.
 */
const TIP_PER_BASE_FEE_MAX = 3n
const TIP_PER_LOW_TIP_MAX = 3n
/** Applies when there is no base fee and blocks have room. */
const TIP_PER_FLOOR_MAX = 10n

function tipFor(chainId: number, baseFee: bigint, history: FeeHistory): bigint {
  const floor = chainFacts(chainId)?.tipFloorWei ?? 0n
  let tip = median(history.tipsPerGas ?? [])
  if (baseFee > 0n) tip = min(tip, baseFee * TIP_PER_BASE_FEE_MAX)
  else if (!history.isCrowded) tip = min(tip, floor * TIP_PER_FLOOR_MAX)
  if (history.lowTipPerGas !== null) tip = min(tip, history.lowTipPerGas * TIP_PER_LOW_TIP_MAX)
  return max(tip, floor)
}

/**
 * Fees with which a transaction is mined in one of the next blocks: the median of recent tips (at
 * least the chain's floor, and within `tipFor`'s bounds), plus twice the next base fee, both capped
 * by `offerCeiling`. Above that cap the transaction waits for the base fee to fall; it is never
 * signed for more.
 * @param ceilingWei highest maxFeePerGas that the operator permits on this chain
 */
export function feesFor(head: ChainHead, history: FeeHistory, ceilingWei: bigint): Fees {
  const baseFee = nextBaseFee(head, history)
  const tip = tipFor(head.chainId, baseFee, history)
  const wanted = baseFee * BASE_FEE_HEADROOM + tip
  const maxFeePerGas = min(wanted, offerCeiling(ceilingWei))
  return { maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) }
}

/** The base fee of the block after `head`, wei per gas; either source may lag by a block. */
export function nextBaseFee(head: ChainHead, history: FeeHistory): bigint {
  return max(history.baseFeesPerGas.at(-1) ?? 0n, head.baseFeePerGas)
}

/**
 * The highest fee of a transaction that is meant to be mined, wei per gas: one bump below the
 * chain's ceiling. At the ceiling itself nothing could replace it, and a lane whose first
 * transaction every node refuses could not even be cancelled.
 */
export function offerCeiling(ceilingWei: bigint): bigint {
  return oneBumpBelow(ceilingWei)
}

/**
 * Fees that replace a transaction at the same nonce: both fields at least 12.5 % higher (rounded
 * up, never by less than a wei) and at least at the present market.
 * @param previous fees of the transaction to replace
 * @param current the result of `feesFor` now
 * @param ceilingWei `offerCeiling` for the same call, the chain's own ceiling for a cancellation
 * @returns null when the ceiling leaves no room for a valid replacement
 */
export function bump(previous: Fees, current: Fees, ceilingWei: bigint): Fees | null {
  const feeNeeded = bumpedFee(previous.maxFeePerGas)
  const tipNeeded = bumpedFee(previous.maxPriorityFeePerGas)
  if (feeNeeded > ceilingWei || tipNeeded > ceilingWei) return null
  const maxFeePerGas = min(max(feeNeeded, tipNeeded, current.maxFeePerGas), ceilingWei)
  const tip = max(tipNeeded, min(current.maxPriorityFeePerGas, maxFeePerGas))
  return { maxFeePerGas, maxPriorityFeePerGas: tip }
}

/**
 * The median transaction of a block was included comfortably; the low ones show what would have
 * sufficed.
 */
export const TIP_PERCENTILES = [10, 50] as const
/** The used share of the gas limit; EIP-1559's target is half. */
const CROWDED_RATIO = 0.9

/**
 * Reads an answer of `eth_feeHistory` requested with `TIP_PERCENTILES`. Never throws: missing or
 * invalid parts are left out, and read by other methods.
 */
export function parseFeeHistory(value: unknown): FeeHistory {
  if (typeof value !== 'object' || value === null) return NO_HISTORY
  const { gasUsedRatio, reward, baseFeePerGas } = value as Readonly<Record<string, unknown>>
  const baseFees = listOf(baseFeePerGas).map(weiOrNull)
  const ratios = listOf(gasUsedRatio).map((ratio) => Number(ratio ?? 0))
  const tips: bigint[] = []
  const lowTips: bigint[] = []
  let isTipRead = false
  listOf(reward).forEach((perBlock, i) => {
    const read = listOf(perBlock).map(weiOrNull)
    const row = read.filter((tip) => tip !== null)
    // Falling values are not percentiles; the lowest is then used as the low one.
    if (row.length === 0 || row.length < read.length) return
    isTipRead = true
    // An empty block reports a tip of zero, which no one paid, and would have accepted it.
    const isEmpty = !((ratios[i] ?? 0) > 0)
    lowTips.push(isEmpty ? 0n : row.reduce(min))
    if (!isEmpty) tips.push(row.at(-1) ?? 0n)
  })
  const crowded = ratios.filter((ratio) => ratio >= CROWDED_RATIO).length
  return {
    // The last entry is the next block's: when it is unreadable, the others cannot replace it.
    baseFeesPerGas: baseFees.at(-1) == null ? [] : baseFees.filter((fee) => fee !== null),
    tipsPerGas: isTipRead ? tips : null,
    lowTipPerGas: isTipRead ? median(lowTips) : null,
    isCrowded: crowded * 2 > ratios.length,
  }
}

/**
 * A node's suggestions for when its fee history is unusable, wei per gas; null when it has none.
 */
interface FeeSuggestions {
  /** `eth_maxPriorityFeePerGas` */
  readonly tip: bigint | null
  /** `eth_gasPrice`: base fee and tip together. */
  readonly gasPrice: bigint | null
}

/** Whether `eth_feeHistory` left out something that the fees are computed from. */
export function lacksFees(head: ChainHead, history: FeeHistory): boolean {
  return (
    history.tipsPerGas === null ||
    (history.baseFeesPerGas.length === 0 && head.baseFeePerGas === 0n)
  )
}

/** Completes a history with suggestions; the chain's floor replaces what no source gives. */
export function withSuggestions(
  head: ChainHead,
  history: FeeHistory,
  { tip, gasPrice }: FeeSuggestions,
): FeeHistory {
  const known = nextBaseFee(head, history)
  // When no source gives the base fee, the gas price certainly includes it.
  const baseFee = known === 0n && history.baseFeesPerGas.length === 0 ? (gasPrice ?? 0n) : known
  const above = gasPrice !== null && gasPrice > baseFee ? gasPrice - baseFee : 0n
  return {
    ...history,
    baseFeesPerGas: [...history.baseFeesPerGas, baseFee],
    tipsPerGas: history.tipsPerGas ?? [tip ?? above],
  }
}

/** @returns null when it is not an amount of wei */
export function weiOrNull(value: unknown): bigint | null {
  try {
    return quantity(value)
  } catch {
    return null
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
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
