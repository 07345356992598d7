import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'

/** The port to vaults that take an asset and give shares. */
export interface VaultVenue {
  /**
   * Null when the vault does not answer as one.
   * @throws FaultError CHAIN_UNAVAILABLE
   */
  read(chain: ChainAccess, vault: Address, account: Address): Promise<VaultState | null>
  /** Shares for assets, or null while the vault takes none. */
  previewDeposit(chain: ChainAccess, vault: Address, assets: bigint): Promise<bigint | null>
  /** Assets for shares, or null while the vault gives none. */
  previewRedeem(chain: ChainAccess, vault: Address, shares: bigint): Promise<bigint | null>
}

export interface VaultState {
  readonly asset: Address
  /** Of the shares. */
  readonly decimals: number
  /** Smallest units of the asset. */
  readonly totalAssets: bigint
  /** The account's. */
  readonly shares: bigint
  /** What they are worth, in smallest units of the asset. */
  readonly assets: bigint
  /** Assets for SHARE_PRICE_SHARES shares. */
  readonly sharePrice: bigint
  /** True while the vault takes no deposit. */
  readonly paused: boolean
}

/** Many, so that the price of one moves visibly within a minute. */
export const SHARE_PRICE_SHARES = 10n ** 30n

/** What shares are worth whoever redeems them, in smallest units of the asset, rounded up. */
export function worthOfShares(
  { sharePrice }: Pick<VaultState, 'sharePrice'>,
  shares: bigint,
): bigint {
  // The price of many is rounded down, and may be by less than one of the asset for so many.
  return (shares * sharePrice) / SHARE_PRICE_SHARES + 1n
}
