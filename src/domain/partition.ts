import { fnv1a } from './fnv1a.js'
import type { UserId } from './ids.js'

/**
 * Users are distributed over a fixed number of partitions. A partition has one writer at a time, so
 * that each user has one order of events, whichever thread or machine the partition is on. The
 * number is high enough to spread over several machines, and low enough that a journal can have an
 * append for each under way.
 *
 * It is part of the store's schema: with another count users would change their partition and
 * continue in other places of the event log.
 */
export const PARTITION_COUNT = 24

export function partitionOf(userId: UserId): number {
  return fnv1a(userId) % PARTITION_COUNT
}

/** The partition of an actor without a user, by its name, so that it never changes. */
export function partitionOfName(kind: string, id: string): number {
  return fnv1a(`${kind}:${id}`) % PARTITION_COUNT
}
