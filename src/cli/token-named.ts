import type { Client } from '../client/client.js'
import { NATIVE_TOKEN } from '../domain/chains.js'
import { UsageError } from './exit-codes.js'

/** Resolves tokens by the names that people type, as in the service's configuration. */

export const TOKEN_HELP = 'token address, a symbol of the chain’s tokens, or native'

/**
 * @returns an address for each name; the native currency in the service's notation
 * @throws UsageError when a symbol is unknown or ambiguous
 */
export async function tokensNamed(
  client: Client,
  chainId: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const bySymbol = names.some((name) => !isAddress(name) && !isNative(name))
  const tokens = bySymbol ? (await client.getTokenBalances({ chain_id: chainId })).tokens : []
  return names.map((name) => {
    if (isAddress(name)) return name
    if (isNative(name)) return NATIVE_TOKEN
    const matching = tokens.filter(({ symbol }) => symbol.toLowerCase() === name.toLowerCase())
    const [found] = matching
    if (found !== undefined && matching.length === 1) return found.token
    const symbols = tokens.map(({ symbol }) => symbol).join(', ')
    throw new UsageError(
      matching.length > 1
        ? `Several tokens of chain ${chainId} have the symbol ${name}. Give the address.`
        : `Chain ${chainId} has no token ${name}. It has: ${symbols}. Give the address of any other token.`,
    )
  })
}

function isAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text)
}

function isNative(text: string): boolean {
  return text.toLowerCase() === 'native'
}
