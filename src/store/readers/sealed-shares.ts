import type { Environment } from '../environment.js'

export interface SealedShareReader {
  /** @param wallet 32 hex digits */
  of(wallet: string): unknown
  /** @param after the wallet to start after; empty to start with the first */
  wallets(after: string, limit: number): readonly string[]
}

export function createSealedShareReader({
  spaces,
}: Pick<Environment, 'spaces'>): SealedShareReader {
  return {
    of: (wallet) => spaces.sealedShares.get(wallet),
    wallets(after, limit) {
      const range = { ...(after === '' ? {} : { start: after, exclusiveStart: true }), limit }
      return [...spaces.sealedShares.getKeys(range)] as string[]
    },
  }
}
