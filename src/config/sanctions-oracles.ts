import type { ChainConfig, SanctionsOracleConfig } from './chains.js'

/** Chainalysis' oracle, as its documentation lists it: one address everywhere but on Base. */
const COMMON = '0x40C57923924B5c5c5455c48D93317139ADDaC8fb'
const KNOWN: ReadonlyMap<number, string> = new Map([
  [1, COMMON],
  [10, COMMON],
  [56, COMMON],
  [137, COMMON],
  [8453, '0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B'],
  [42161, COMMON],
])

const MAX_AGE_SECONDS = 86_400

/**
 * The oracle whose events are mirrored for a chain, or null. What the operator wrote counts; where
 * nothing is written a live chain has its known oracle. A development chain bears the same id, and
 * nothing stands at that address.
 */
export function sanctionsOracleOf(
  chain: ChainConfig,
  mode: 'dev' | 'live',
): SanctionsOracleConfig | null {
  if (chain.sanctions_oracle !== undefined) return chain.sanctions_oracle
  const known = mode === 'live' ? KNOWN.get(chain.id) : undefined
  if (known === undefined) return null
  return { address: known, from_block: null, max_age_seconds: MAX_AGE_SECONDS }
}

/** The name of the list that mirrors a chain's oracle. */
export function oracleListName(chainId: number): string {
  return `sanctions-oracle-${chainId}`
}
