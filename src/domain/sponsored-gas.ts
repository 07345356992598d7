import { chainFacts } from './chains.js'
import { MICROS_PER_USD, type UsdMicros } from './money.js'
import { dayCounted } from './spend.js'
import type { SponsoredKind, Sponsorship } from './sponsorship.js'
import type { SponsoredGas } from './wallet.js'

/**
 * The purpose of a gas wallet's transaction: a sponsored call, its cancellation, or the end of a
 * delegation.
 */
export type GasFlow = SponsoredKind | 'cancel' | 'undelegate'

interface GasBound {
  /**
   * The highest gas limit that a gas wallet signs for this flow. A call with a higher estimate is
   * refused.
   */
  readonly gasMax: bigint
  /** The gas that the budgets hold until a gas wallet has estimated the call. */
  readonly gasAtFirst: bigint
}

/**
 * Spec silent: how much gas a sponsored call may take. A bound is about twice what the flow takes
 * at its honest worst, since tokens, pools and vaults run code of their own inside the call, and a
 * token that was honest when it was configured can later burn all the gas that it is given.
 */
const BOUNDS: Readonly<Record<GasFlow, GasBound>> = {
  // Two hops through pools that cross several ticks, with tokens behind proxies: 500,000.
  swap: { gasMax: 1_000_000n, gasAtFirst: 400_000n },
  // Vaults that supply several markets and harvest at the same time: 700,000.
  defi_deposit: { gasMax: 1_400_000n, gasAtFirst: 400_000n },
  defi_withdraw: { gasMax: 1_400_000n, gasAtFirst: 400_000n },
  // One hop between two known tokens, and unwrapping: 300,000.
  gas_swap: { gasMax: 700_000n, gasAtFirst: 400_000n },
  // One storage slot of the Router and one event: 50,000.
  cancel: { gasMax: 100_000n, gasAtFirst: 100_000n },
  // EIP-7702 charges 25,000 for the authorization, in addition to 21,000 for the transaction.
  undelegate: { gasMax: 100_000n, gasAtFirst: 100_000n },
}

/** Arbitrum counts the L1 data of a call as gas, which varies with the price of Ethereum's blobs. */
const ARBITRUM_GAS_MAX = 1_500_000n

export function gasMaxOf(chainId: number, flow: GasFlow): bigint {
  if (chainFacts(chainId)?.feeModel === 'arbitrum') return ARBITRUM_GAS_MAX
  return BOUNDS[flow].gasMax
}

export function gasAtFirst(flow: GasFlow): bigint {
  return BOUNDS[flow].gasAtFirst
}

/**
 * The most that the operator pays for gas in one UTC day. Spec silent on both budgets and their
 * defaults.
 */
export interface GasBudgets {
  readonly walletMicros: UsdMicros
  readonly userMicros: UsdMicros
}

/**
 * Without bounds a caller could burn the gas wallets' funds at no cap of its own. 250 USD are a
 * thousand swaps on a layer 2, and about ten on a busy Ethereum. A user may have thousands of
 * wallets: the budget for all of them is four times as much.
 */
export const GAS_BUDGET_USD_DEFAULTS = { wallet: 250, user: 1_000 } as const
export const GAS_BUDGET_USD_MAX = 1_000_000

export function gasBudgetsOf(usd: { readonly wallet: number; readonly user: number }): GasBudgets {
  return {
    walletMicros: BigInt(usd.wallet) * MICROS_PER_USD,
    userMicros: BigInt(usd.user) * MICROS_PER_USD,
  }
}

/** More than any budget: stands for a day whose payments are unknown. */
export const GAS_USED_UP_MICROS = BigInt(GAS_BUDGET_USD_MAX) * MICROS_PER_USD

export const GAS_BUDGET_DEFAULTS = gasBudgetsOf(GAS_BUDGET_USD_DEFAULTS)

/** One budget and its use now: paid on this day, and held. */
export interface GasBudgetUse {
  readonly limitMicros: UsdMicros
  readonly usedMicros: UsdMicros
}

export interface GasUse {
  readonly wallet: GasBudgetUse
  readonly user: GasBudgetUse
  /** The part of the wallet's use that its calls under way hold. */
  readonly heldMicros: UsdMicros
}

/** The gas that one sub-wallet counts in its budget and in its user's. */
export interface WalletGas {
  readonly paid: SponsoredGas
  /** Held for calls under way. */
  readonly heldMicros: UsdMicros
}

/** A failed call has paid; only its cancellation may still cost something. */
export function heldGasOf(
  stage: string,
  { gasMicros, cancelMicros = 0n }: Pick<Sponsorship, 'gasMicros' | 'cancelMicros'>,
): UsdMicros {
  return stage === 'held' ? cancelMicros : gasMicros
}

export function gasCounted({ paid, heldMicros }: WalletGas, nowMs: number): UsdMicros {
  return paidToday(paid, nowMs) + heldMicros
}

export function paidToday({ day, micros }: SponsoredGas, nowMs: number): UsdMicros {
  return dayCounted(day, nowMs) > day ? 0n : micros
}
