import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'

/** The port to vaults that take an asset and give shares. */
export interface VaultVenue {
  /**
   * Null when the contract does not answer as a vault.
   * @throws FaultError CHAIN_UNAVAILABLE
   */
  read(chain: ChainAccess, vault: Address, account: Address): Promise<VaultState | null>
  /** Shares for assets; null while the vault accepts no deposit. */
  previewDeposit(chain: ChainAccess, vault: Address, assets: bigint): Promise<bigint | null>
  /** Assets for shares; null while the vault pays none out. */
  previewRedeem(chain: ChainAccess, vault: Address, shares: bigint): Promise<bigint | null>
}

export interface VaultState {
  readonly asset: Address
  /** The decimals of the shares. */
  readonly decimals: number
  /** In smallest units of the asset. */
  readonly totalAssets: bigint
  /** The account's shares. */
  readonly shares: bigint
  /** The value of these shares, in smallest units of the asset. */
  readonly assets: bigint
  /** Assets for SHARE_PRICE_SHARES shares. */
  readonly sharePrice: bigint
  /** True while the vault accepts no deposit. */
  readonly paused: boolean
}

/** A large number, so that the price moves visibly within a minute. */
export const SHARE_PRICE_SHARES = 10n ** 30n

/** The value of shares for any holder, in smallest units of the asset, rounded up. */
export function worthOfShares(
  { sharePrice }: Pick<VaultState, 'sharePrice'>,
  shares: bigint,
): bigint {
  // The price of that many shares is rounded down, by less than one unit of the asset.
  return (shares * sharePrice) / SHARE_PRICE_SHARES + 1n
}
