import { spendersOfEntries } from '../domain/allowance.js'
import type { Address } from '../domain/ids.js'
import type { Reader } from './reader.js'

/**
 * Everyone a wallet ever approved on a chain, lower-case; null where the ledger does not hold
 * every approval: when it overflowed, or the wallet is older than it.
 *
 * A wallet's key signs for this service alone, and each approval is stored before it is sent, so
 * a ledger is complete from its wallet's first day. What it cannot know is that the store was put
 * back to an earlier day; spend is forgotten then, too.
 */
export function knownSpendersOf(reader: Reader) {
  return (chainId: number, wallet: Address): ReadonlySet<string> | null => {
    if (reader.fresh().allowances.ledger(wallet)?.complete !== true) return null
    return spendersOfEntries(reader.allowances.ofWallet(wallet, chainId))
  }
}
