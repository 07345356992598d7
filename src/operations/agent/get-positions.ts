import type { OperationOutput } from '../../api/operations.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { ChainAccess } from '../../chains/access.js'
import type { Address } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { chainsAsked, readMarkets, usdOf } from '../sponsored/markets.js'

export function getPositions(ports: OperationPorts): AgentHandlers['get_positions'] {
  return async (context, { chain_id }) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    return readPositions(ports, account, chainsAsked(ports, context, chain_id))
  }
}

/** Markets of which the account holds shares. */
export async function readPositions(
  ports: OperationPorts,
  account: Address,
  chains: readonly ChainAccess[],
): Promise<Result<OperationOutput<'get_positions'>>> {
  const found = await readMarkets(ports, chains, account)
  if (!found.ok) return found
  const held = found.value.filter(({ state }) => state.shares > 0n)
  const positions = await Promise.all(
    held.map(async (market) => ({
      market_id: market.config.market_id,
      chain_id: market.chain.config.id,
      vault: market.vault,
      asset: toChecksumAddress(market.state.asset),
      shares: market.state.shares.toString(),
      asset_amount: market.state.assets.toString(),
      usd_value: await usdOf(ports, market, market.state.assets),
    })),
  )
  return ok({ positions })
}
