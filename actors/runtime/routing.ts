import type { ActorAddress } from './actor.js'

/**
 * Actors are grouped into a fixed number of shards, and shards are dealt out to threads. The
 * count never changes, so the same actor is in the same shard on one thread, on eight, and in a
 * cluster where a shard is one virtual object.
 */
export const SHARD_COUNT = 1_024

/** FNV-1a over the UTF-16 units of `kind:id`. */
export function shardOf({ kind, id }: ActorAddress): number {
  let hash = 0x811c9dc5
  const mix = (text: string) => {
    for (let i = 0; i < text.length; i++) {
      hash ^= text.charCodeAt(i)
      hash = Math.imul(hash, 0x01000193)
    }
  }
  mix(kind)
  mix(':')
  mix(id)
  return (hash >>> 0) % SHARD_COUNT
}

/** Which of the workers an actor lives on. With one there is nothing to hash. */
export function workerOf(address: ActorAddress, workerCount: number): number {
  return workerCount === 1 ? 0 : shardOf(address) % workerCount
}
