import { partitionOf, partitionOfName } from '../../src/domain/partition.js'
import type { ActorAddress } from './actor.js'

/**
 * An actor lives where its partition does: all actors of a user on one thread, which is the only
 * one that appends to the user's events. The price is that one thread bounds a user.
 */
function partitionOfActor({ kind, id, userId }: ActorAddress): number {
  return userId === null ? partitionOfName(kind, id) : partitionOf(userId)
}

/** The worker that writes a partition. */
export function workerOfPartition(partition: number, workerCount: number): number {
  return partition % workerCount
}

/** The worker on which an actor lives. With one worker nothing is hashed. */
export function workerOf(address: ActorAddress, workerCount: number): number {
  return workerCount === 1 ? 0 : workerOfPartition(partitionOfActor(address), workerCount)
}
