import type { Environment } from '../environment.js'
import { SHARES_CARRIED } from '../key-spaces.js'

export interface SealedShareReader {
  /** @param wallet 32 hex digits */
  of(wallet: string): unknown
  /** @param after empty: from the first */
  wallets(after: string, limit: number): readonly string[]
  /** False while there may be shares that no row has. */
  areCarried(): boolean
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
    areCarried: () => spaces.meta.get(SHARES_CARRIED) !== undefined,
  }
}
