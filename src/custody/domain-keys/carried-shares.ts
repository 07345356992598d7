import type { StoredRecord } from './share-copies.js'

/**
 * Where a domain's shares are besides, so that they outlive its machine. They go there sealed, as they
 * are on its disk.
 */
export interface CarriedShares {
  /** Resolves once the record is there durably, in place of an earlier one. */
  put(walletId: Uint8Array, record: StoredRecord): Promise<void>
  /** Null where there is none, or where nothing can be read from there. */
  get(walletId: Uint8Array): StoredRecord | null
}
