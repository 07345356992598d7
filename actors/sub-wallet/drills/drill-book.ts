import type { Drill } from '../../../src/domain/drill.js'
import type { TxId } from '../../../src/domain/ids.js'

/**
 * The injected faults that the transactions of a thread will meet. Not stored: a restart ends them
 * all, and the calls continue normally.
 */
interface DrillBook {
  readonly size: number
  put(txId: TxId, drill: Drill): void
  of(txId: TxId): Drill | null
  /** The fault has occurred once. */
  take(txId: TxId): void
  end(txId: TxId): void
}

/** Beyond this bound the oldest fault is dropped, and its transaction continues normally. */
const DRILLS_MAX = 4_096
/** More than one, so that the service's retries become visible. */
const BROADCASTS_LOST = 3

export function createDrillBook(): DrillBook {
  const ahead = new Map<TxId, { readonly drill: Drill; left: number }>()
  return {
    get size() {
      return ahead.size
    },
    put(txId, drill) {
      const [oldest] = ahead.keys()
      if (ahead.size >= DRILLS_MAX && oldest !== undefined) ahead.delete(oldest)
      ahead.set(txId, { drill, left: drill === 'dropped-broadcast' ? BROADCASTS_LOST : 1 })
    },
    of: (txId) => ahead.get(txId)?.drill ?? null,
    take(txId) {
      const entry = ahead.get(txId)
      if (entry === undefined) return
      entry.left--
      if (entry.left === 0) ahead.delete(txId)
    },
    end: (txId) => void ahead.delete(txId),
  }
}
