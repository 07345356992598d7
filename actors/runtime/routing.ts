import { partitionOf, partitionOfName } from '../../src/domain/partition.js'
import type { ActorAddress } from './actor.js'

/**
 * An actor lives where its partition does: all of a user's on one thread, which alone appends to
 * the user's events. The price is that a user is bounded by one thread.
 */
function partitionOfActor({ kind, id, userId }: ActorAddress): number {
  return userId === null ? partitionOfName(kind, id) : partitionOf(userId)
}

/** Which of the workers writes a partition. */
export function workerOfPartition(partition: number, workerCount: number): number {
  return partition % workerCount
}

/** Which of the workers an actor lives on. With one there is nothing to hash. */
export function workerOf(address: ActorAddress, workerCount: number): number {
  return workerCount === 1 ? 0 : workerOfPartition(partitionOfActor(address), workerCount)
}
