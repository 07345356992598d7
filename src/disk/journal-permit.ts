import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from './put-file.js'

/**
 * `service/journal-take`: the next start on this home may take its journal from the service that owns
 * it, and need not wait where it is a standby: an operator's word, or that of the owner itself, which
 * ends for a successor on this home. It names the owner's taking, by its epoch, and is good for no
 * other.
 */
const FILE = 'journal-take'

/** A number that is no secret: the service's user reads what root may have written. */
const MODE = 0o644

/** @returns null where there is none */
export function readJournalPermit(home: string): number | null {
  const path = pathIn(home)
  if (!existsSync(path)) return null
  const epoch = Number(readFileSync(path, 'utf8'))
  if (Number.isSafeInteger(epoch) && epoch > 0) return epoch
  throw new Error(`${path} is damaged: remove it`)
}

export function writeJournalPermit(home: string, epoch: number): void {
  putFile(pathIn(home), `${epoch}\n`, MODE)
}

export function removeJournalPermit(home: string): void {
  rmSync(pathIn(home), { force: true })
}

const pathIn = (home: string) => join(home, 'service', FILE)
