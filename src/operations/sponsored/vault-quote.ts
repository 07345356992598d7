import type { ChainAccess } from '../../chains/access.js'
import type { SubWalletId } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { OperationPorts } from '../ports.js'
import { type Market, marketOf, readMarket } from './markets.js'

/** @returns refusals: `INVALID_KEY`, `NOT_FOUND`, `CHAIN_UNAVAILABLE` */
export async function marketForQuote(
  ports: OperationPorts,
  chain: ChainAccess,
  subWalletId: SubWalletId,
  marketId: string,
): Promise<Result<Market>> {
  const account = ports.reader.wallets.byId(subWalletId)?.address
  if (account === undefined) return refuse(fault('INVALID_KEY'))
  const config = marketOf(chain, marketId)
  if (!config.ok) return config
  const market = await readMarket(ports, chain, config.value, account)
  return market === null
    ? refuse(fault('CHAIN_UNAVAILABLE', { chain_id: chain.config.id }))
    : ok(market)
}
