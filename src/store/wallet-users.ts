import { LRUCache } from 'lru-cache'
import type { SubWalletId, UserId } from '../domain/ids.js'
import type { Reader } from './reader.js'

/** Wallets whose user is at hand; one takes some 150 bytes. */
const WALLETS_MAX = 20_000

/** Of a wallet that is not in the store, or whose record is damaged: whoever is told of it finds nothing. */
const NOBODY = '' as UserId

/** Whose a wallet is, which never changes: its actor's address says so. */
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
