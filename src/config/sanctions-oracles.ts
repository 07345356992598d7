import { chainFacts } from '../domain/chains.js'
import type { ChainConfig, SanctionsOracleConfig } from './chains.js'

const MAX_AGE_SECONDS = 86_400

/**
 * Returns the oracle whose events are mirrored for a chain, or null. The operator's setting wins;
 * without one a live chain has its known oracle. A development chain has the same id, but nothing
 * is deployed at that address.
 */
export function sanctionsOracleOf(
  chain: ChainConfig,
  mode: 'dev' | 'live',
): SanctionsOracleConfig | null {
  if (chain.sanctions_oracle !== undefined) return chain.sanctions_oracle
  if (mode === 'dev') return null
  const address = chainFacts(chain.id).sanctionsOracle
  return { address, from_block: null, max_age_seconds: MAX_AGE_SECONDS }
}

/** The name of the list that mirrors a chain's oracle. */
export function oracleListName(chainId: number): string {
  return `${ORACLE_LIST}${chainId}`
}

const ORACLE_LIST = 'sanctions-oracle-'

export function isOracleListName(name: string): boolean {
  return name.startsWith(ORACLE_LIST)
}
