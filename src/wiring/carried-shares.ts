import type { CarriedShares } from '../custody/domain-keys/carried-shares.js'
import type { StoredRecord } from '../custody/domain-keys/share-copies.js'
import type { JournalOwner } from '../quorum-protocol/service-boot.js'
import type { Commits } from '../store/commits.js'
import type { Reader } from '../store/reader.js'
import { WriteBatch } from '../store/write-batch.js'

/** Shares as rows of the store, which its journal brings to other machines. */
export function createCarriedShares(
  reader: Pick<Reader, 'fresh'>,
  owner: () => JournalOwner,
  commits: () => Commits,
): CarriedShares {
  return {
    owner,
    async put(walletId, record) {
      const batch = new WriteBatch()
      batch.putSealedShare(nameOf(walletId), record)
      await commits().commit(batch)
    },
    get: (walletId) => reader.fresh().sealedShares.of(nameOf(walletId)) as StoredRecord | undefined,
    hasAny: () => reader.fresh().sealedShares.wallets('', 1).length > 0,
  }
}

function nameOf(walletId: Uint8Array): string {
  return Buffer.from(walletId).toString('hex')
}
