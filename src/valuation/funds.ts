import { LRUCache } from 'lru-cache'
import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'

/**
 * Tells early and cheaply that a wallet cannot pay, so that agents get an answer instead of a
 * failed transaction. A convenience, not a bound: caps never rest on it. A balance is read once
 * and counted down by what is quoted; only when that says "too little" is the chain asked again,
 * because money may have come in.
 */
export interface Funds {
  /** @param token null for native currency */
  cover(
    chain: ChainAccess,
    owner: Address,
    token: Address | null,
    amount: bigint,
  ): boolean | Promise<boolean>
}

/** Accounts and tokens remembered; 100 bytes or so each. */
const REMEMBERED_MAX = 32_768
/** Others can take money too, by allowances; then a reading should not be older than this. */
const MAX_AGE_MS = 30_000

export function createFunds(nowMs: () => number = () => performance.now()): Funds {
  const left = new LRUCache<string, { amount: bigint; atMs: number }>({ max: REMEMBERED_MAX })

  async function ask(
    chain: ChainAccess,
    owner: Address,
    token: Address | null,
    key: string,
  ): Promise<bigint> {
    const amount =
      token === null
        ? await chain.reads.nativeBalance(owner)
        : await chain.reads.tokenBalance(token, owner)
    left.set(key, { amount, atMs: nowMs() })
    return amount
  }

  return {
    cover(chain, owner, token, amount) {
      const key = `${chain.config.id}${owner}${token ?? ''}`
      const known = left.get(key)
      if (known !== undefined && nowMs() - known.atMs < MAX_AGE_MS && known.amount >= amount) {
        known.amount -= amount
        return true
      }
      return ask(chain, owner, token, key).then((balance) => {
        const fresh = left.get(key)
        if (balance >= amount && fresh !== undefined) fresh.amount -= amount
        return balance >= amount
      })
    },
  }
}
