import { erc20Abi } from '../contracts/abis/erc20.js'
import { erc4626Abi } from '../contracts/abis/erc4626.js'
import type { ContractReads } from './contract-reads.js'
import { SHARE_PRICE_SHARES, type VaultVenue } from './vault-venue.js'

/** Vaults that implement ERC-4626. */
export function createErc4626(reads: ContractReads): VaultVenue {
  return {
    async read(chain, vault, account) {
      const [asset, decimals, totalAssets, shares, sharePrice, room] = await Promise.all([
        reads.read(chain, vault, erc4626Abi, 'asset', []),
        reads.read(chain, vault, erc20Abi, 'decimals', []),
        reads.read(chain, vault, erc4626Abi, 'totalAssets', []),
        reads.read(chain, vault, erc20Abi, 'balanceOf', [account]),
        reads.read(chain, vault, erc4626Abi, 'convertToAssets', [SHARE_PRICE_SHARES]),
        reads.read(chain, vault, erc4626Abi, 'maxDeposit', [account]),
      ])
      if (asset === null || decimals === null || totalAssets === null || shares === null)
        return null
      if (sharePrice === null) return null
      const assets =
        shares === 0n ? 0n : await reads.read(chain, vault, erc4626Abi, 'convertToAssets', [shares])
      if (assets === null) return null
      return {
        ...{ asset, decimals, totalAssets, shares, assets, sharePrice },
        paused: room === null || room === 0n,
      }
    },
    previewDeposit: (chain, vault, assets) =>
      reads.read(chain, vault, erc4626Abi, 'previewDeposit', [assets]),
    previewRedeem: (chain, vault, shares) =>
      reads.read(chain, vault, erc4626Abi, 'previewRedeem', [shares]),
  }
}
