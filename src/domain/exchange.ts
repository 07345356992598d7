import type { Address } from './ids.js'
import type { UsdMicros } from './money.js'
import { MICROS_PER_USD } from './money.js'

/**
 * What a sponsored call gives the wallet for its input, at the service's own prices: fractions of
 * integers, so that rounding never decides about a bound.
 */
export interface Exchange {
  /** The input that reaches the venue after the service's fee, in smallest units. */
  readonly netIn: bigint
  readonly unitIn: UnitWorth
  readonly unitOut: UnitWorth
  /** The hops of a swap that goes over other tokens; absent of one that does not. */
  readonly hops?: readonly Hop[]
}

/** One pool on the way of a swap, as it was offered. */
export interface Hop {
  readonly tokenIn: Address
  readonly tokenOut: Address
  readonly exchange: Exchange
  /** Smallest units. */
  readonly amountOut: bigint
}

/** USD per smallest unit of a token, as a fraction; the denominator is above 0. */
export interface UnitWorth {
  readonly numerator: bigint
  readonly denominator: bigint
}

/**
 * The share of its value that a sponsored call may lose when no policy sets a bound. Spec silent on
 * what counts as a fee: the service's own fee is taken off the input, and what pools and vaults
 * keep is a loss like any other, since any pool sets its own fee.
 */
export const MAX_SWAP_LOSS_BPS_DEFAULT = 500

const BPS = 10_000n

/** The lost basis points of the input's value, rounded up; 0 when nothing is lost. */
export function lossBps({ netIn, unitIn, unitOut }: Exchange, amountOut: bigint): number {
  const paid = netIn * unitIn.numerator * unitOut.denominator
  if (paid <= 0n) return 0
  const kept = (amountOut * unitOut.numerator * unitIn.denominator * BPS) / paid
  return kept >= BPS ? 0 : Number(BPS - kept)
}

/**
 * A pool whose price is out of line lets its maker take more from a swap than the whole of it shows,
 * while another pool on the way is as far out of line in the swap's favour.
 * @returns the first hop that loses more; null: none does
 */
export function hopBeyond({ hops = [] }: Exchange, maxLossBps: number): Hop | null {
  return hops.find(({ exchange, amountOut }) => lossBps(exchange, amountOut) > maxLossBps) ?? null
}

/** Rounded up: it leaves. */
export function worthOfInput({ netIn, unitIn: { numerator, denominator } }: Exchange): UsdMicros {
  return (netIn * numerator * MICROS_PER_USD + denominator - 1n) / denominator
}

/** The least output within that loss, in smallest units. Null when the output is worth nothing. */
export function leastOutputWithin(
  { netIn, unitIn, unitOut }: Exchange,
  maxLossBps: number,
): bigint | null {
  const wanted = netIn * unitIn.numerator * unitOut.denominator * (BPS - BigInt(maxLossBps))
  const perUnit = unitOut.numerator * unitIn.denominator * BPS
  if (wanted === 0n) return 0n
  return perUnit === 0n ? null : (wanted + perUnit - 1n) / perUnit
}

/** Rounds down, because it is incoming value. */
export function worthOfOutput(
  { unitOut: { numerator, denominator } }: Exchange,
  amountOut: bigint,
): UsdMicros {
  return (amountOut * numerator * MICROS_PER_USD) / denominator
}
