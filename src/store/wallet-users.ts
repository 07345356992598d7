import { LRUCache } from 'lru-cache'
import type { SubWalletId, UserId } from '../domain/ids.js'
import type { Reader } from './reader.js'

/** Wallets whose user is cached; one takes some 150 bytes. */
const WALLETS_MAX = 20_000

/**
 * Stands for the user of a wallet that is not in the store or has a damaged record; messages to it
 * find nothing.
 */
const NOBODY = '' as UserId

/** Returns the user of a wallet, which never changes and is part of its actor's address. */
export function walletUsersOf(
  reader: Pick<Reader, 'fresh' | 'wallets' | 'ifSound'>,
): (id: SubWalletId) => UserId {
  const known = new LRUCache<SubWalletId, UserId>({ max: WALLETS_MAX })

  function read(id: SubWalletId): UserId | undefined {
    return reader.ifSound(() => reader.wallets.byId(id))?.userId
  }

  return (id) => {
    const kept = known.get(id)
    if (kept !== undefined) return kept
    let user = read(id)
    if (user === undefined) {
      // The snapshot of this tick may be older than the wallet.
      reader.fresh()
      user = read(id)
    }
    if (user === undefined) return NOBODY
    known.set(id, user)
    return user
  }
}
