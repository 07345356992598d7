import type { ChainConfig } from '../config/chains.js'
import { writeGasWalletsFile } from '../defi/gas-wallets-file.js'
import { GAS_WALLETS_PER_CHAIN } from '../domain/gas-wallets.js'

/**
 * Writes the addresses of the gas wallets to the home's file, and warns if some have no key yet.
 */
export function keepGasWallets(
  home: string,
  chains: readonly Pick<ChainConfig, 'router'>[],
  gasWallets: Parameters<typeof writeGasWalletsFile>[1],
  log: { warn(context: object, message: string): void },
): void {
  const routerCount = chains.filter(({ router }) => router !== null).length
  if (gasWallets.length < routerCount * GAS_WALLETS_PER_CHAIN) {
    log.warn({ open: gasWallets.length }, 'some gas wallets have no key yet')
  }
  writeGasWalletsFile(home, gasWallets)
}
