import { setTimeout as delay } from 'node:timers/promises'
import type { DomainName } from '../domain-keys/layout.js'
import { HomeInUse, lockDomain } from './domain-lock.js'
import { NoLock } from './kernel-lock.js'
import { endWith, endWithout, OWNER_ALONE } from './own-home.js'

/** The interval between checks whether the other process has ended. */
const POLL_MS = 10

/**
 * Runs `ownHome` for a process that takes over from another: it waits for that one to end, and
 * reports who holds the home when that takes longer than `patienceMs`.
 */
export async function inheritHome(
  home: string,
  domain: DomainName,
  patienceMs: number,
): Promise<void> {
  process.umask(OWNER_ALONE)
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      endWithout(lockDomain(home, domain), home)
      return
    } catch (error) {
      if (error instanceof NoLock) endWith(error.message)
      if (!(error instanceof HomeInUse)) throw error
      if (performance.now() > deadlineMs) {
        endWith(`Waited ${patienceMs / 1_000} s to take over. ${error.message}`)
      }
    }
    await delay(POLL_MS)
  }
}
