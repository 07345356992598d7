import { toChecksumAddress } from '../../api/parse-address.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { chainsAsked, type Market, readMarkets, usdOf, vaultKey } from '../sponsored/markets.js'

/** Vaults of the configuration that answer as vaults. */
export function getDefiMarkets(ports: OperationPorts): AgentHandlers['get_defi_markets'] {
  return async (context, { chain_id }) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const found = await readMarkets(ports, chainsAsked(ports, context, chain_id), account)
    if (!found.ok) return found
    return {
      ok: true,
      value: { markets: await Promise.all(found.value.map((market) => view(ports, market))) },
    }
  }
}

async function view(ports: OperationPorts, market: Market) {
  const { chain, config, vault, state } = market
  const asset = toChecksumAddress(state.asset)
  const metadata = await chain.reads.tokenMetadata(asset)
  return {
    market_id: config.market_id,
    chain_id: chain.config.id,
    protocol: config.protocol,
    name: config.name,
    asset,
    asset_symbol: metadata?.symbol ?? '',
    asset_decimals: metadata?.decimals ?? 0,
    vault,
    apy: ports.sharePrices.apy(vaultKey(chain, vault)),
    tvl_usd: await usdOf(ports, market, state.totalAssets),
    paused: state.paused,
  }
}
