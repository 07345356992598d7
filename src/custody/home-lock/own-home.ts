import { writeSync } from 'node:fs'
import type { DomainName } from '../domain-keys/layout.js'
import { HomeInUse, lockDomain } from './domain-lock.js'
import { type HeldLock, NoLock } from './kernel-lock.js'

/** A second process that found no lock file works on the same home for no longer than this. */
const LOOK_EVERY_MS = 2_000

/** What a process makes is its user's alone; what others may read is given its mode by name. */
export const OWNER_ALONE = 0o077

/**
 * The first thing a domain's process does, before it opens anything of its home: nothing it makes
 * from here on is readable by others, and no second process writes there until it is gone. Where
 * another one is at work already, this one says so and ends; and so it does when its lock's file
 * was removed, since another can have taken the home then.
 */
export function ownHome(home: string, domain: DomainName): void {
  process.umask(OWNER_ALONE)
  try {
    // Held by the open file, so until the process ends, and not a moment less.
    endWithout(lockDomain(home, domain), home)
  } catch (error) {
    if (!(error instanceof HomeInUse || error instanceof NoLock)) throw error
    endWith(error.message)
  }
}

/** Ends the process once its lock is no longer in place. */
export function endWithout(lock: HeldLock, home: string): void {
  const look = setInterval(() => {
    if (lock.inPlace()) return
    endWith(
      `The lock of ${home} was removed or replaced while this process held it: another one may write there by now, so this one ends. Lock files stay where they are; to let another process in, stop the one that runs.`,
    )
  }, LOOK_EVERY_MS)
  look.unref()
}

export function endWith(sentence: string): never {
  writeSync(process.stderr.fd, `${sentence}\n`)
  process.exit(1)
}
