import { watchPath } from '../../disk/watch-path.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import { readRegistryFile } from './registry-file.js'

/** An emergency revocation takes hold within this time, in each domain by itself. */
const LOOK_EVERY_MS = 500

/**
 * Takes over a newer registry as soon as it is put in place. Each domain looks for itself: to end
 * the key of a service that was broken into must not need that service's help.
 * @param taken called after a newer one is in force
 * @param refused called when the file does not pass; the present registry stays in force
 * @returns ends the watch
 */
export function followRegistry(
  path: string,
  holder: RegistryHolder,
  taken: (registry: Registry) => void,
  refused: (error: unknown) => void,
): () => void {
  const look = () => {
    try {
      if (holder.offer(readRegistryFile(path))) taken(holder.current)
    } catch (error) {
      refused(error)
    }
  }
  const unwatch = watchPath(path, LOOK_EVERY_MS, look)
  // Of the moments since the holder got its own: a start may take seconds.
  look()
  return unwatch
}
