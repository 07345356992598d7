import type { ChainAccess } from '../chains/access.js'
import { type Exchange, leastOutputWithin, type UnitWorth } from '../domain/exchange.js'
import type { Address } from '../domain/ids.js'
import { ok, type Result } from '../errors/fault.js'
import { worthOfUnit } from './input-value.js'
import type { PlanPorts } from './plan.js'
import { SHARE_PRICE_SHARES, type VaultState } from './vault-venue.js'

/**
 * Computes what the tokens of a sponsored call are worth, and the least output that its bounds
 * accept.
 */

/** The bounds on the output of a call. */
export interface OutputBounds {
  /**
   * The caller's slippage, basis points; null when the caller gave none, or people approved a
   * minimum.
   */
  readonly slippageBps: number | null
  /** The bound of the key and of those above it, basis points; null when unbounded. */
  readonly maxLossBps: number | null
}

/**
 * The least output that is signed. Spec silent: a slippage within the key's bound leaves room for
 * what pools and vaults keep, and the minimum is raised to the bound when both together would pass
 * it. A caller that requests more slippage than the key may lose is refused and not corrected.
 * @param least the caller's minimum
 */
export function boundedLeast(
  exchange: Exchange | null,
  offered: bigint,
  least: bigint,
  { slippageBps, maxLossBps }: OutputBounds,
): bigint {
  if (exchange === null || maxLossBps === null) return least
  if (slippageBps !== null && slippageBps > maxLossBps) return least
  const bound = leastOutputWithin(exchange, maxLossBps)
  return bound === null || bound > offered || bound <= least ? least : bound
}

/** Returns null when one of the two has no price. */
export function exchangeOf(
  netIn: bigint,
  unitIn: UnitWorth | null,
  unitOut: UnitWorth | null,
): Exchange | null {
  return unitIn === null || unitOut === null ? null : { netIn, unitIn, unitOut }
}

/**
 * The price of an incoming share: what its vault would pay for it now after the exit fee, and at
 * most its part of the assets. A vault reports both, and the lesser counts.
 * @param shares incoming, in smallest units
 * @returns null when the asset has no price, or the vault redeems nothing
 */
export async function worthOfShareIn(
  ports: PlanPorts,
  chain: ChainAccess,
  vault: Address,
  { asset, sharePrice }: Pick<VaultState, 'asset' | 'sharePrice'>,
  shares: bigint,
): Promise<Result<UnitWorth | null>> {
  const [unit, redeemed] = await Promise.all([
    worthOfUnit(ports, chain, asset),
    shares === 0n ? null : ports.vaultVenue.previewRedeem(chain, vault, shares),
  ])
  if (!unit.ok || unit.value === null || redeemed === null) return unit.ok ? ok(null) : unit
  const { numerator, denominator } = unit.value
  const isLess = redeemed * SHARE_PRICE_SHARES < sharePrice * shares
  return isLess
    ? ok({ numerator: numerator * redeemed, denominator: denominator * shares })
    : ok({ numerator: numerator * sharePrice, denominator: denominator * SHARE_PRICE_SHARES })
}

/** The price of an outgoing share: its part of the assets, rounded up. */
export function worthOfShareOut(
  asset: UnitWorth | null,
  { sharePrice }: Pick<VaultState, 'sharePrice'>,
): UnitWorth | null {
  if (asset === null) return null
  return {
    numerator: asset.numerator * (sharePrice + 1n),
    denominator: asset.denominator * SHARE_PRICE_SHARES,
  }
}
