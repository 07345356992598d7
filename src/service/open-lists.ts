import { join } from 'node:path'
import type { Logger } from 'pino'
import type { ChainConfig } from '../config/chains.js'
import { protectedAddressesOf } from '../config/protected-addresses.js'
import { oracleListName, sanctionsOracleOf } from '../config/sanctions-oracles.js'
import { createListOwner } from '../screening/lists/list-owner.js'

/** Opens the screening lists of a home, including those that mirror oracles on its chains. */
export function openLists(
  home: string,
  storeDirectory: string,
  options: {
    readonly mode: 'dev' | 'live'
    readonly chainConfigs: readonly ChainConfig[]
    readonly log: Logger
  },
) {
  const { mode, chainConfigs, log } = options
  return createListOwner({
    ...{ mode, storeDirectory, log },
    textListsDirectory: join(home, 'lists'),
    protectedAddresses: protectedAddressesOf(chainConfigs),
    mirrors: chainConfigs
      .filter((chain) => sanctionsOracleOf(chain, mode) !== null)
      .map(({ id }) => oracleListName(id)),
  })
}
