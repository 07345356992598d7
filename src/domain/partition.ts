import { fnv1a } from './fnv1a.js'
import type { UserId } from './ids.js'

/**
 * Users are dealt out to a fixed number of partitions. A partition has one writer at a time, so
 * that each user has one order of events, whichever thread or machine the partition is on. Enough
 * to spread over some machines, few enough for one append each to be under way in a journal.
 *
 * Part of the store's schema: with another count users would change their partition, and go on in
 * another's places of the event log.
 */
export const PARTITION_COUNT = 24

export function partitionOf(userId: UserId): number {
  return fnv1a(userId) % PARTITION_COUNT
}

/** Of what belongs to no user: by its name, so that it stays where it is. */
export function partitionOfName(kind: string, id: string): number {
  return fnv1a(`${kind}:${id}`) % PARTITION_COUNT
}
