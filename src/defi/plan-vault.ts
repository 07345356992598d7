import type { ChainAccess } from '../chains/access.js'
import { routerFee } from '../contracts/router-intent-type.js'
import { encodeVaultDeposit, encodeVaultRedeem } from '../contracts/venue-calls.js'
import type { Exchange } from '../domain/exchange.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import { insufficientFunds } from '../errors/insufficient-funds.js'
import { boundedLeast, exchangeOf, worthOfShareIn, worthOfShareOut } from './exchange-of.js'
import { SERVICE_FEE_BPS } from './fee.js'
import { type InputValue, valueOfInput, worthOfUnit } from './input-value.js'
import { lackOf, type Plan, type PlanPorts } from './plan.js'
import { leastOutput } from './plan-swap.js'
import { type VaultState, worthOfShares } from './vault-venue.js'

/**
 * A share's price moves a little with every block, and a vault's fees may be added. Spec silent:
 * callers give no bound of their own here.
 */
const VAULT_SLIPPAGE_BPS = 50

/** The present state of a vault. */
interface PlannedMarket {
  readonly chain: ChainAccess
  readonly vault: Address
  readonly state: VaultState
}

/** @returns refusals: `PRICE_UNAVAILABLE` */
export async function planDeposit(
  ports: PlanPorts,
  market: PlannedMarket,
  account: Address,
  amountIn: bigint,
  maxLossBps: number | null,
): Promise<Result<Plan>> {
  const { chain, vault, state } = market
  const { asset } = state
  const net = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  const [value, unitIn, shares, lack] = await Promise.all([
    valueOfInput(ports, chain, asset, amountIn),
    worthOfUnit(ports, chain, asset),
    ports.vaultVenue.previewDeposit(chain, vault, net),
    lackOf(chain, asset, account, amountIn),
  ])
  if (!unitIn.ok) return unitIn
  const unitOut = await worthOfShareIn(ports, chain, vault, state, shares ?? 0n)
  if (!unitOut.ok) return unitOut
  const exchange = exchangeOf(net, unitIn.value, unitOut.value)
  const paused = state.paused ? refusedByVault('the vault takes no deposits') : null
  return planOf(market, value, lack ?? paused, shares, { exchange, maxLossBps }, (minOut) => ({
    ...{ tokenIn: asset, amountIn, feeBps: SERVICE_FEE_BPS, tokenOut: vault, minOut },
    target: vault,
    data: encodeVaultDeposit(net, account),
  }))
}

/**
 * The input is vault shares, and so is the fee.
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function planWithdrawal(
  ports: PlanPorts,
  market: PlannedMarket,
  account: Address,
  router: Address,
  amountIn: bigint,
  maxLossBps: number | null,
): Promise<Result<Plan>> {
  const { chain, vault, state } = market
  const net = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  // The wallet gives shares: a vault that keeps a part when redeeming, or redeems nothing now, does
  // not lower their value.
  const [value, asset, assets] = await Promise.all([
    valueOfInput(ports, chain, state.asset, worthOfShares(state, amountIn)),
    worthOfUnit(ports, chain, state.asset),
    ports.vaultVenue.previewRedeem(chain, vault, net),
  ])
  if (!asset.ok) return asset
  const exchange = exchangeOf(net, worthOfShareOut(asset.value, state), asset.value)
  const lack = state.shares >= amountIn ? null : lackOfShares(vault, state.shares, amountIn)
  return planOf(market, value, lack, assets, { exchange, maxLossBps }, (minOut) => ({
    ...{ tokenIn: vault, amountIn, feeBps: SERVICE_FEE_BPS, tokenOut: state.asset, minOut },
    target: vault,
    data: encodeVaultRedeem(net, account, router),
  }))
}

export function lackOfShares(vault: Address, have: bigint, need: bigint): Fault {
  const lack = insufficientFunds({ token: vault, have, need })
  const message =
    have === 0n
      ? 'The sub-wallet holds no shares of that vault, so nothing can be withdrawn.'
      : `The sub-wallet holds ${have} shares of that vault, and ${need} were requested; "max" withdraws all.`
  return { ...lack, message }
}

function planOf(
  { vault, state }: PlannedMarket,
  value: Result<InputValue>,
  problem: Fault | null,
  output: bigint | null,
  {
    exchange,
    maxLossBps,
  }: { readonly exchange: Exchange | null; readonly maxLossBps: number | null },
  termsWith: (minOut: bigint) => IntentTerms,
): Result<Plan> {
  if (!value.ok) return value
  const parties = [
    { address: vault, path: 'vault' },
    { address: state.asset, path: 'asset' },
  ]
  const terms = (): Result<IntentTerms> => {
    if (problem !== null) return refuse(problem)
    if (output === null || output === 0n)
      return refuse(refusedByVault('the vault would pay out nothing'))
    const least = leastOutput(output, VAULT_SLIPPAGE_BPS)
    const bounds = { slippageBps: null, maxLossBps }
    return ok(termsWith(boundedLeast(exchange, output, least, bounds)))
  }
  const planned = terms()
  return ok({
    value: value.value,
    terms: planned,
    offered: planned.ok ? (output ?? 0n) : 0n,
    exchange,
    parties,
  })
}

export function refusedByVault(reason: string): Fault {
  return fault('SIMULATION_REVERTED', { reason })
}
