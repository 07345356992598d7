import type { ChainHead } from './heads.js'

/**
 * The time since each chain's newest block was first seen here, independent of the block's
 * timestamp.
 */
interface HeadAges {
  note(head: Pick<ChainHead, 'chainId' | 'number' | 'hash'>): void
  /** Null until a block of the chain was seen. */
  of(chainId: number): { readonly number: number; readonly ageMs: number } | null
}

export function createHeadAges(monotonicMs: () => number = () => performance.now()): HeadAges {
  const newest = new Map<number, { number: number; hash: string; seenAtMs: number }>()
  return {
    note({ chainId, number, hash }) {
      if (newest.get(chainId)?.hash === hash) return
      newest.set(chainId, { number, hash, seenAtMs: monotonicMs() })
    },
    of(chainId) {
      const head = newest.get(chainId)
      return head === undefined
        ? null
        : { number: head.number, ageMs: monotonicMs() - head.seenAtMs }
    },
  }
}
