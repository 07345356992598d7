import type { OperationOutput } from '../../api/operations.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { ChainAccess } from '../../chains/access.js'
import type { Address } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { chainsAsked, type ListedMarket, listMarkets, usdOf } from '../sponsored/markets.js'

export function getPositions(ports: OperationPorts): AgentHandlers['get_positions'] {
  return async (context, { chain_id }) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    return readPositions(ports, account, chainsAsked(ports, context, chain_id))
  }
}

/** Lists markets of which the account holds shares, and those for which that is unknown. */
export async function readPositions(
  ports: OperationPorts,
  account: Address,
  chains: readonly ChainAccess[],
): Promise<Result<OperationOutput<'get_positions'>>> {
  const found = await listMarkets(ports, chains, account, (market) => view(ports, market))
  return found.ok ? ok({ positions: found.value }) : found
}

async function view(ports: OperationPorts, { chain, config, vault, state }: ListedMarket) {
  if (state?.shares === 0n) return []
  const position = {
    market_id: config.market_id,
    chain_id: chain.config.id,
    vault,
    asset: state === null ? null : toChecksumAddress(state.asset),
    shares: state === null ? null : state.shares.toString(),
    asset_amount: state === null ? null : state.assets.toString(),
    usd_value: state === null ? null : await usdOf(ports, { chain, state }, state.assets),
  }
  return [position]
}
