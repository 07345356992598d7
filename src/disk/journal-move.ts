import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from './put-file.js'

/**
 * `service/journal-move`: an operator's word to the service that owns the journal, by the epoch that it
 * has it with: it is to hand it over to one that waits, and to end. It is taken away once the journal has
 * it, and is good for no other owner.
 */
export interface AskedMove {
  readonly epoch: number
  /** Id of the node that is to have it (`store/journal-move.ts`). */
  readonly to: string
  /** By the service, in words for people: nothing is handed over. */
  readonly refused?: string
}

const FILE = 'journal-move'
/** No secret: the service's user reads what root may have written. */
const MODE = 0o644

export const journalMovePath = (home: string) => join(home, 'service', FILE)

/** @returns null where there is none, or none that can be read */
export function readAskedMove(home: string): AskedMove | null {
  const path = journalMovePath(home)
  if (!existsSync(path)) return null
  try {
    const { epoch, to, refused } = JSON.parse(readFileSync(path, 'utf8')) as Partial<AskedMove>
    if (!Number.isSafeInteger(epoch) || typeof to !== 'string') return null
    const asked = { epoch: Number(epoch), to }
    return typeof refused === 'string' ? { ...asked, refused } : asked
  } catch {
    return null
  }
}

export function writeAskedMove(home: string, asked: AskedMove): void {
  putFile(journalMovePath(home), `${JSON.stringify(asked)}\n`, MODE)
}

export function removeAskedMove(home: string): void {
  rmSync(journalMovePath(home), { force: true })
}
