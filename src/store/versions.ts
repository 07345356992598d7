import { fnv1a } from '../domain/fnv1a.js'

/**
 * Lets a thread know, without asking, that what it keeps about an id still holds. Whoever changes
 * something counts the id's slot up; ids that share a slot only make each other look changed.
 *
 * A reader takes the version *before* it looks or asks, and keeps what it learns under it. When
 * the slot is counted up follows from how the reader learns:
 *
 * - Sub-wallets: the actor is asked. Before each decision that could change its state, so that an
 *   answer from before it is not kept past it.
 * - Transactions, a user's webhook endpoints, what sub-wallets have spent: the store is looked at.
 *   After the commit and before anybody hears of it, so that whoever has heard of a change finds it.
 */
export interface Versions<Id extends string> {
  versionOf(id: Id): number
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
