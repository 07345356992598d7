import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from './put-file.js'

/**
 * `journal-take`, in the directory of the service or of the identity provider, permits the next
 * start on this home to take the journal from its leader at once, even as a standby. An operator
 * writes it, or a leader that ends for a successor on the same home. It names the leader's epoch
 * and applies to no other.
 */
const FILE = 'journal-take'

type JournaledDomain = 'service' | 'user'
const DIRECTORIES = { service: 'service', user: 'identity-provider' } as const

/**
 * Readable, because the number is no secret and root may have written it for the service's user.
 */
const MODE = 0o644

/** @returns null if there is no permit */
export function readJournalPermit(home: string, domain: JournaledDomain): number | null {
  const path = pathIn(home, domain)
  if (!existsSync(path)) return null
  const epoch = Number(readFileSync(path, 'utf8'))
  if (Number.isSafeInteger(epoch) && epoch > 0) return epoch
  throw new Error(`${path} is damaged. Remove it`)
}

export function writeJournalPermit(home: string, domain: JournaledDomain, epoch: number): void {
  putFile(pathIn(home, domain), `${epoch}\n`, MODE)
}

export function removeJournalPermit(home: string, domain: JournaledDomain): void {
  rmSync(pathIn(home, domain), { force: true })
}

const pathIn = (home: string, domain: JournaledDomain) => join(home, DIRECTORIES[domain], FILE)
