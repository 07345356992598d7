import { readdirSync, readFileSync, statSync } from 'node:fs'

/**
 * Bounds the file descriptors of a process, which its files and sockets share. Outside connections
 * get what a reserve leaves, so that the stores, lists, and sockets to other domains and nodes
 * never run out.
 */

/**
 * At rest the service has some 60 open; under load up to 16 for each node and thread, and 8 for
 * each webhook receiver. The remainder is for connections that one turn of the event loop accepts
 * at once: the backlog of 512, and those that arrive in that time.
 */
export const DESCRIPTORS_RESERVED = 1_024
const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'
const SOFT_LIMIT = /^Max open files +(\d+)/m

/** @returns null if the system does not tell, or sets no bound */
export function descriptorsMax(): number | null {
  try {
    const [, soft] = SOFT_LIMIT.exec(readFileSync(LIMITS, 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** @returns null if the system does not tell */
export function descriptorsOpen(): number | null {
  try {
    // Since Linux 6.2 the directory's size is the count; before, it is zero.
    return statSync(OPEN).size || readdirSync(OPEN).length
  } catch {
    return null
  }
}

/** The number of open descriptors, out of `max`, at which no more connections are accepted. */
export function unreservedDescriptors(max: number | null): number {
  if (max === null) return Number.POSITIVE_INFINITY
  return max - Math.min(DESCRIPTORS_RESERVED, Math.floor(max / 2))
}
