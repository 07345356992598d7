import type { Chains } from '../chains/access.js'
import { createContractEvents } from '../chains/contract-events.js'
import type { ChainConfig } from '../config/chains.js'
import { protectedAddressesOf } from '../config/protected-addresses.js'
import { oracleListName, sanctionsOracleOf } from '../config/sanctions-oracles.js'
import type { Address } from '../domain/ids.js'
import { protectAddresses } from '../screening/lists/infrastructure.js'
import { ListStore } from '../screening/lists/list-store.js'
import { OracleMirror } from '../screening/providers/oracle-mirror.js'
import { ADDED_TOPIC, REMOVED_TOPIC } from '../screening/providers/sanctions-oracle.js'

interface OracleMirrorsOptions {
  readonly chains: Chains
  readonly mode: 'dev' | 'live'
  readonly listsDirectory: string
  readonly log: ConstructorParameters<typeof OracleMirror>[0]['log']
}

/** Opens one mirror for each chain whose sanctions oracle is followed. */
export function openOracleMirrors({
  chains,
  mode,
  listsDirectory,
  log,
}: OracleMirrorsOptions): OracleMirror[] {
  const configs: readonly ChainConfig[] = [...chains.values()].map(({ config }) => config)
  const isProtected = protectAddresses(protectedAddressesOf(configs))
  const store = new ListStore(listsDirectory, isProtected)
  return [...chains.values()].flatMap(({ config: chain, rpc }) => {
    const oracle = sanctionsOracleOf(chain, mode)
    if (oracle === null) return []
    const address = oracle.address as Address
    return new OracleMirror({
      name: oracleListName(chain.id),
      chainId: chain.id,
      contract: address,
      fromBlock: oracle.from_block,
      confirmations: chain.confirmations,
      maxAgeSeconds: oracle.max_age_seconds,
      source: createContractEvents(rpc, address, [ADDED_TOPIC, REMOVED_TOPIC]),
      ...{ store, isProtected, log, nowMs: Date.now },
    })
  })
}
