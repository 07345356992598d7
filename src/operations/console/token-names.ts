import { getAddress } from 'viem/utils'
import type { Chains } from '../../chains/access.js'
import { NATIVE_DECIMALS } from '../../domain/chains.js'
import type { Address } from '../../domain/ids.js'

export interface TokenNamed {
  /** Null for native currency. */
  readonly token: Address | null
  /** The operator's symbol, also for vault shares; null if only the token itself states one. */
  readonly symbol: string | null
  readonly decimals: number | null
}

/** Names the tokens of one chain from its configuration, without asking a node. */
export function tokenNames(chains: Chains, chainId: number): (token: Address | null) => TokenNamed {
  const config = chains.get(chainId)?.config
  return (token) => {
    if (token === null) {
      return { token, symbol: config?.native_symbol ?? null, decimals: NATIVE_DECIMALS }
    }
    const key = token.toLowerCase()
    const known = config?.tokens.find(({ address }) => address.toLowerCase() === key)
    if (known !== undefined) {
      const { symbol, decimals } = known
      return { token: getAddress(token), symbol, decimals }
    }
    const market = config?.markets.find(({ vault }) => vault.toLowerCase() === key)
    const symbol = market === undefined ? null : `${market.name} shares`
    return { token: getAddress(token), symbol, decimals: null }
  }
}
