import { spendersOfEntries } from '../domain/allowance.js'
import type { Address } from '../domain/ids.js'
import type { Reader } from './reader.js'

/**
 * The spenders that a wallet ever gave an allowance on a chain, in lower case; null if the ledger
 * does not have all of them, because it overflowed or is younger than the wallet.
 *
 * A wallet's key signs only for this service, and each allowance is stored before it is sent, so a
 * ledger is complete from its wallet's first day. It cannot know that the store was restored to an
 * earlier day; spend is forgotten then, too.
 */
export function knownSpendersOf(reader: Reader) {
  return (chainId: number, wallet: Address): ReadonlySet<string> | null => {
    if (reader.fresh().allowances.ledger(wallet)?.complete !== true) return null
    return spendersOfEntries(reader.allowances.ofWallet(wallet, chainId))
  }
}
