import type { ChainAccess } from '../chains/access.js'
import { routerFee } from '../contracts/router-intent-type.js'
import { encodeVaultDeposit, encodeVaultRedeem } from '../contracts/venue-calls.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import { insufficientFunds } from '../errors/insufficient-funds.js'
import { SERVICE_FEE_BPS } from './fee.js'
import { type InputValue, valueOfInput } from './input-value.js'
import { lackOf, type Plan, type PlanPorts } from './plan.js'
import { leastOutput } from './plan-swap.js'
import { type VaultState, worthOfShares } from './vault-venue.js'

/**
 * A share's price moves a little with every block, and a vault's fees may come on top. Spec
 * silent: callers give no bound of their own here.
 */
const VAULT_SLIPPAGE_BPS = 50

/** A vault as it is now. */
export interface PlannedMarket {
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
): Promise<Result<Plan>> {
  const { chain, vault, state } = market
  const { asset } = state
  const net = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  const [value, shares, lack] = await Promise.all([
    valueOfInput(ports, chain, asset, amountIn),
    ports.vaultVenue.previewDeposit(chain, vault, net),
    lackOf(chain, asset, account, amountIn),
  ])
  const paused = state.paused ? refusedByVault('the vault takes no deposits') : null
  return planOf(market, value, lack ?? paused, shares, (minOut) => ({
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
): Promise<Result<Plan>> {
  const { chain, vault, state } = market
  const net = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  // What leaves the wallet is shares: a vault that keeps a part of what it redeems them for, or gives
  // nothing now, makes them worth no less.
  const [value, assets] = await Promise.all([
    valueOfInput(ports, chain, state.asset, worthOfShares(state, amountIn)),
    ports.vaultVenue.previewRedeem(chain, vault, net),
  ])
  const lack =
    state.shares >= amountIn
      ? null
      : insufficientFunds({ token: vault, have: state.shares, need: amountIn })
  return planOf(market, value, lack, assets, (minOut) => ({
    ...{ tokenIn: vault, amountIn, feeBps: SERVICE_FEE_BPS, tokenOut: state.asset, minOut },
    target: vault,
    data: encodeVaultRedeem(net, account, router),
  }))
}

function planOf(
  { vault, state }: PlannedMarket,
  value: Result<InputValue>,
  problem: Fault | null,
  output: bigint | null,
  termsWith: (minOut: bigint) => IntentTerms,
): Result<Plan> {
  if (!value.ok) return value
  const parties = [
    { address: vault, path: 'vault' },
    { address: state.asset, path: 'asset' },
  ]
  const terms = (): Result<IntentTerms> => {
    if (problem !== null) return refuse(problem)
    if (output === null || output === 0n) return refuse(refusedByVault('nothing would come out'))
    return ok(termsWith(leastOutput(output, VAULT_SLIPPAGE_BPS)))
  }
  const planned = terms()
  return ok({
    value: value.value,
    terms: planned,
    offered: planned.ok ? (output ?? 0n) : 0n,
    parties,
  })
}

export function refusedByVault(reason: string): Fault {
  return fault('SIMULATION_REVERTED', { reason })
}
