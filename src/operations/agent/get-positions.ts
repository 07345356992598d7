import { toChecksumAddress } from '../../api/parse-address.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { chainsAsked, readMarkets, usdOf } from '../sponsored/markets.js'

/** Markets of which the sub-wallet holds shares. */
export function getPositions(ports: OperationPorts): AgentHandlers['get_positions'] {
  return async (context, { chain_id }) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const found = await readMarkets(ports, chainsAsked(ports, context, chain_id), account)
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
    return { ok: true, value: { positions } }
  }
}
