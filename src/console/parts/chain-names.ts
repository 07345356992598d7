import { CHAIN_IDS, chainFacts } from '../../domain/chains.js'

export { CHAIN_IDS }

export function chainName(chainId: number): string {
  return chainFacts(chainId)?.name ?? `Chain ${chainId}`
}
