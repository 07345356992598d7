import { watchPath } from '../../disk/watch-path.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import { readRegistryFile } from './registry-file.js'

/** An emergency revocation takes effect within this time, in each domain independently. */
const POLL_MS = 500

/**
 * Loads a newer registry as soon as the file changes. Each domain polls by itself: revoking the key
 * of a compromised service must not need that service's cooperation.
 * @param taken called after a newer registry is in force
 * @param refused called when the file is rejected; the present registry stays in force
 * @returns a function that stops polling
 */
export function followRegistry(
  path: string,
  holder: RegistryHolder,
  taken: (registry: Registry) => void,
  refused: (error: unknown) => void,
): () => void {
  const poll = () => {
    try {
      if (holder.offer(readRegistryFile(path))) taken(holder.current)
    } catch (error) {
      refused(error)
    }
  }
  const unwatch = watchPath(path, POLL_MS, poll)
  // Checks for a change since the holder read the file: a start may take seconds.
  poll()
  return unwatch
}
