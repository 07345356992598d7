import { toChecksumAddress } from '../../api/parse-address.js'
import { fault, refuse } from '../../errors/fault.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import {
  chainsAsked,
  type ListedMarket,
  listMarkets,
  usdOf,
  vaultKey,
} from '../sponsored/markets.js'

/** Lists the configured vaults; values that could not be read are null. */
export function getDefiMarkets(ports: OperationPorts): AgentHandlers['get_defi_markets'] {
  return async (context, { chain_id }) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    const chains = chainsAsked(ports, context, chain_id)
    const found = await listMarkets(ports, chains, account, async (market) => [
      await view(ports, market),
    ])
    return found.ok ? { ok: true, value: { markets: found.value } } : found
  }
}

async function view(ports: OperationPorts, market: ListedMarket) {
  const { chain, config, vault, state } = market
  const asset = state === null ? null : toChecksumAddress(state.asset)
  const metadata = asset === null ? null : await chain.reads.tokenMetadata(asset)
  return {
    market_id: config.market_id,
    chain_id: chain.config.id,
    protocol: config.protocol,
    name: config.name,
    asset,
    asset_symbol: metadata?.symbol ?? null,
    asset_decimals: metadata?.decimals ?? null,
    vault,
    apy: ports.sharePrices.apy(vaultKey(chain, vault)),
    tvl_usd: state === null ? null : await usdOf(ports, { chain, state }, state.totalAssets),
    paused: state?.paused ?? null,
  }
}
