import { writeSync } from 'node:fs'
import type { DomainName } from '../domain-keys/layout.js'
import { HomeInUse, lockDomain } from './domain-lock.js'
import { type HeldLock, NoLock } from './kernel-lock.js'

/** The longest time for which a second process that found no lock file works on the same home. */
const POLL_MS = 2_000

/**
 * Files are readable only by the process's user; a file that others may read gets its mode
 * explicitly.
 */
export const OWNER_ALONE = 0o077

/**
 * Called first by a domain's process, before it opens anything in its home: from here on other
 * users cannot read what it creates, and no second process writes there until it has ended. If
 * another process already runs, or the lock's file was removed so that another may have taken the
 * home, this one reports it and ends.
 */
export function ownHome(home: string, domain: DomainName): void {
  process.umask(OWNER_ALONE)
  try {
    // The open file holds the lock exactly until the process ends.
    endWithout(lockDomain(home, domain), home)
  } catch (error) {
    if (!(error instanceof HomeInUse || error instanceof NoLock)) throw error
    endWith(error.message)
  }
}

/** Ends the process once its lock's file is removed or replaced. */
export function endWithout(lock: HeldLock, home: string): void {
  const poll = setInterval(() => {
    if (lock.inPlace()) return
    endWith(
      `The lock of ${home} was removed or replaced while this process held it: another process may write there now, so this one ends. Never remove lock files; to let another process in, stop the running one.`,
    )
  }, POLL_MS)
  poll.unref()
}

export function endWith(sentence: string): never {
  writeSync(process.stderr.fd, `${sentence}\n`)
  process.exit(1)
}
