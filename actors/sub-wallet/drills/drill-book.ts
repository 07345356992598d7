import type { Drill } from '../../../src/domain/drill.js'
import type { TxId } from '../../../src/domain/ids.js'

/**
 * Which fault the transactions of a thread have ahead of them. Not stored: a start ends them all,
 * and what they were asked for goes on as any other.
 */
export interface DrillBook {
  readonly size: number
  put(txId: TxId, drill: Drill): void
  of(txId: TxId): Drill | null
  /** It has come once. */
  take(txId: TxId): void
  end(txId: TxId): void
}

/** Beyond it the oldest gives way, and its transaction goes on as any other. */
const DRILLS_MAX = 4_096
/** So that the service is seen to try again more than once. */
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
