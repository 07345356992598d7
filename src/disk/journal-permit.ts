import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from './put-file.js'

/**
 * `journal-take` in the directory of the service, or of the identity provider: the next start on this home
 * may take its journal from the one that owns it, and need not wait where it is a standby: an operator's
 * word, or that of the owner itself, which ends for a successor on this home. It names the owner's taking,
 * by its epoch, and is good for no other.
 */
const FILE = 'journal-take'

export type JournaledDomain = 'service' | 'user'
const DIRECTORIES = { service: 'service', user: 'identity-provider' } as const

/** A number that is no secret: the service's user reads what root may have written. */
const MODE = 0o644

/** @returns null where there is none */
export function readJournalPermit(home: string, domain: JournaledDomain): number | null {
  const path = pathIn(home, domain)
  if (!existsSync(path)) return null
  const epoch = Number(readFileSync(path, 'utf8'))
  if (Number.isSafeInteger(epoch) && epoch > 0) return epoch
  throw new Error(`${path} is damaged: remove it`)
}

export function writeJournalPermit(home: string, domain: JournaledDomain, epoch: number): void {
  putFile(pathIn(home, domain), `${epoch}\n`, MODE)
}

export function removeJournalPermit(home: string, domain: JournaledDomain): void {
  rmSync(pathIn(home, domain), { force: true })
}

const pathIn = (home: string, domain: JournaledDomain) => join(home, DIRECTORIES[domain], FILE)
