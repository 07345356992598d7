import { readdirSync, readFileSync, statSync } from 'node:fs'

/**
 * Files and sockets of a process are descriptors, of which the system gives it so many. Connections
 * from outside get what is left beyond a reserve: the stores, the lists, the sockets to the other
 * domains and to nodes must never find none.
 */

/**
 * At rest the service has some 60 open; under load up to 16 for each node and thread, and 8 for each
 * receiver of webhooks. The rest is for what one turn of the event loop accepts unseen: all that waits, 512,
 * and what comes meanwhile.
 */
export const DESCRIPTORS_RESERVED = 1_024
const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'
const SOFT_LIMIT = /^Max open files +(\d+)/m

/** @returns null where the system does not say, or gives without bound */
export function descriptorsMax(): number | null {
  try {
    const [, soft] = SOFT_LIMIT.exec(readFileSync(LIMITS, 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** @returns null where the system does not say */
export function descriptorsOpen(): number | null {
  try {
    // Since Linux 6.2 the size of the directory is their count; before, it is zero.
    return statSync(OPEN).size || readdirSync(OPEN).length
  } catch {
    return null
  }
}

/** Of the `max` descriptors that a process may open, at how many it takes no more connections. */
export function unreservedDescriptors(max: number | null): number {
  if (max === null) return Number.POSITIVE_INFINITY
  return max - Math.min(DESCRIPTORS_RESERVED, Math.floor(max / 2))
}
