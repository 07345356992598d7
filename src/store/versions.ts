import { fnv1a } from '../domain/fnv1a.js'

/**
 * Tells a thread, without a message, whether what it keeps about an id is still valid. A change
 * raises the version of the id's slot; ids that share a slot only make each other look changed.
 *
 * A reader takes the version *before* it reads or asks, and keeps what it learns under it. When the
 * version is raised depends on how the reader learns:
 *
 * - Sub-wallets: the reader asks the actor. The version is raised before each decision that could
 *   change the actor's state, so that an earlier answer is not kept past it.
 * - Transactions, a user's webhook endpoints, spend of sub-wallets: the reader reads the store. The
 *   version is raised after the commit and before the change becomes known, so that a thread
 *   that knows of a change finds it.
 */
export interface Versions<Id extends string> {
  versionOf(id: Id): number
  /** The same for one id that is read often: its slot is found once. */
  counterOf(id: Id): () => number
  countUp(id: Id): void
}

/** 256 KiB in all; the version of a slot wraps after 2^32 changes. */
const SLOTS = 65_536

export function createVersionsBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)
}

export function attachVersions<Id extends string>(buffer: SharedArrayBuffer): Versions<Id> {
  const cells = new Int32Array(buffer)
  return {
    versionOf: (id) => Atomics.load(cells, slotOf(id)),
    counterOf(id) {
      const slot = slotOf(id)
      return () => Atomics.load(cells, slot)
    },
    countUp(id) {
      Atomics.add(cells, slotOf(id), 1)
    },
  }
}

/** The hash of an id, folded to 16 bits. */
function slotOf(id: string): number {
  const hash = fnv1a(id)
  return ((hash >>> 16) ^ hash) & (SLOTS - 1)
}
