import { join } from 'node:path'
import type { ChainConfig } from '../config/chains.js'
import { protectedAddressesOf } from '../config/protected-addresses.js'
import { oracleListName, sanctionsOracleOf } from '../config/sanctions-oracles.js'

/** Loads the lists of a service's home as a service of that mode would, without logging. */
export function listsContext(home: string, chains: readonly ChainConfig[], mode: 'dev' | 'live') {
  const silent = () => undefined
  return {
    mode,
    textListsDirectory: join(home, 'lists'),
    storeDirectory: join(home, 'service', 'lists'),
    protectedAddresses: protectedAddressesOf(chains),
    mirrors: chains
      .filter((chain) => sanctionsOracleOf(chain, mode) !== null)
      .map(({ id }) => oracleListName(id)),
    log: { info: silent, warn: silent, error: silent },
  }
}
