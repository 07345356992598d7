import type { DomainName } from '../domain-keys/layout.js'
import { HomeInUse, lockDomain } from './domain-lock.js'

/** What a process makes is its user's alone; what others may read is given its mode by name. */
const OWNER_ALONE = 0o077

/**
 * The first thing a domain's process does, before it opens anything of its home: nothing it makes
 * from here on is readable by others, and no second process writes there until it is gone. Where
 * another one is at work already, this one says so and ends.
 */
export function ownHome(home: string, domain: DomainName): void {
  process.umask(OWNER_ALONE)
  try {
    // Held by the open file, so until the process ends, and not a moment less.
    lockDomain(home, domain)
  } catch (error) {
    if (!(error instanceof HomeInUse)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
