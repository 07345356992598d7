import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { DomainName } from '../domain-keys/layout.js'
import {
  describeHolder,
  type HeldLock,
  LockHeld,
  type LockHolder,
  lockedBy,
  takeLock,
} from './kernel-lock.js'

/**
 * One writer per domain and home. Two wallet services on one home would spend every cap twice and
 * break the chains of the evidence for good.
 *
 * | lock | held by | alongside it may run |
 * |---|---|---|
 * | the domain's | its process, from before it opens anything until it is gone; commands that need it stopped | commands that hold the other one |
 * | its maintenance's | every command that reads or changes its stores or keys as a whole | its process |
 *
 * Each lock is beside what it guards. The quorum signer has only its socket, and its unit lets it
 * write nowhere but there.
 */
const PROCESS_NAMES: Record<DomainName, string> = {
  service: 'the wallet service',
  user: 'the identity provider',
  quorum: 'the quorum signer',
}

/** @throws HomeInUse */
export function lockDomain(home: string, domain: DomainName): HeldLock {
  const advice =
    'Stop that one first, or give this one its own home (COUNTERSIGN_HOME): two processes on one home would each spend every cap in full.'
  return taken(home, processLockPath(home, domain), PROCESS_NAMES[domain], advice)
}

/**
 * Locks the domain's maintenance for a command, while the domain's process may run.
 * @param command such as `custody backup`
 * @throws HomeInUse while another command runs
 */
export function lockMaintenance(home: string, domain: DomainName, command: string): HeldLock {
  const path = maintenanceLockPath(home, domain)
  return taken(home, path, `countersign ${command}`, 'Repeat the command when that one has ended.')
}

/**
 * Locks the domain for a command that needs its process stopped.
 * @throws HomeInUse while the process or another command runs
 */
export function lockStopped(home: string, domain: DomainName, command: string): HeldLock {
  const maintenance = lockMaintenance(home, domain, command)
  try {
    const advice = `Stop it and repeat the command: ${command} needs the domain stopped.`
    const path = processLockPath(home, domain)
    const process = taken(home, path, `countersign ${command}`, advice)
    return {
      inPlace: () => process.inPlace() && maintenance.inPlace(),
      release() {
        process.release()
        maintenance.release()
      },
    }
  } catch (error) {
    maintenance.release()
    throw error
  }
}

/** Returns the process that runs on the domain's home; null without one. */
export function domainHeldBy(home: string, domain: DomainName): string | null {
  return lockedBy(processLockPath(home, domain))
}

/** A sentence that names the process on the home and tells what to do. */
export class HomeInUse extends Error {
  constructor(home: string, holder: LockHolder | null, advice: string) {
    super(`${realpathSync(home)} is in use by ${describeHolder(holder)}. ${advice}`)
    this.name = 'HomeInUse'
  }
}

function taken(home: string, path: string, name: string, advice: string): HeldLock {
  try {
    return takeLock(path, name)
  } catch (error) {
    if (error instanceof LockHeld) throw new HomeInUse(home, error.holder, advice)
    throw error
  }
}

function processLockPath(home: string, domain: DomainName): string {
  if (domain === 'service') return join(home, 'service', 'service.lock')
  if (domain === 'user') return join(home, 'identity-provider', 'identity-provider.lock')
  return join(home, 'run', 'quorum-signer.lock')
}

function maintenanceLockPath(home: string, domain: DomainName): string {
  const directory = { service: 'service', user: 'identity-provider', quorum: 'quorum-signer' }
  return join(home, directory[domain], 'maintenance.lock')
}
