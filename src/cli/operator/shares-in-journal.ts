import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredRecord } from '../../custody/domain-keys/share-copies.js'
import type { SharesInJournal } from '../../custody-tools/maintenance/refresh-shares.js'
import { ONE_CELL } from '../../domain/cells.js'
import { openBesideService } from '../../store/environment.js'
import { journalPositionOf } from '../../store/journal-position.js'
import { createReader } from '../../store/reader.js'
import { storeCellOf } from '../../store/store-cell.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'

/**
 * @param use called with the journal's shares as the home's store has them; null without a journal
 * @throws UsageError when there is a journal, but no store that identifies it
 */
export async function withSharesInJournal<T>(
  { env }: Pick<Io, 'env'>,
  home: string,
  use: (journal: SharesInJournal | null) => Promise<T>,
): Promise<T> {
  const directory = join(home, 'service', 'store')
  const isTold = (env.COUNTERSIGN_JOURNAL_FILE ?? '') !== ''
  if (!existsSync(join(directory, 'data.mdb'))) {
    if (isTold) throw notYet(home)
    return use(null)
  }
  const environment = openBesideService(directory)
  try {
    const position = journalPositionOf(environment)
    if (position === null && isTold) throw notYet(home)
    if (position === null) return await use(null)
    const reader = createReader(environment)
    return await use({
      leadership: {
        ...{ journal: position.storeId, epoch: position.epoch },
        cell: storeCellOf(environment) ?? ONE_CELL,
      },
      get: (wallet) => reader.fresh().sealedShares.of(wallet) as StoredRecord | undefined,
      wallets: (after, limit) => reader.fresh().sealedShares.wallets(after, limit),
    })
  } finally {
    await environment.root.close()
  }
}

function notYet(home: string): UsageError {
  return new UsageError(
    `the store of ${home} has not followed its journal yet: start its service, then run this again`,
  )
}
