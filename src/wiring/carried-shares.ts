import type { CarriedShares } from '../custody/domain-keys/carried-shares.js'
import type { StoredRecord } from '../custody/domain-keys/share-copies.js'
import type { JournalLeadership } from '../quorum-protocol/service-boot.js'
import type { Commits } from '../store/commits.js'
import type { Reader } from '../store/reader.js'
import { WriteBatch } from '../store/write-batch.js'

/** Shares as rows of the store, which the journal carries to other machines. */
export function createCarriedShares(
  reader: Pick<Reader, 'fresh'>,
  leadership: () => JournalLeadership,
  commits: () => Commits,
): CarriedShares {
  const recordOf = (name: string) =>
    reader.fresh().sealedShares.of(name) as StoredRecord | undefined
  return {
    leadership,
    async put(walletId, record) {
      const batch = new WriteBatch()
      batch.putSealedShare(nameOf(walletId), record)
      await commits().commit(batch)
    },
    get: (walletId) => recordOf(nameOf(walletId)),
    first() {
      const [name] = reader.fresh().sealedShares.wallets('', 1)
      return name === undefined ? undefined : recordOf(name)
    },
  }
}

function nameOf(walletId: Uint8Array): string {
  return Buffer.from(walletId).toString('hex')
}
