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
  /** Id of the node that is to have it (`store/journal-move.ts`); null: any of those that wait. */
  readonly to: string | null
  /** Where none is named, whether the owner ends although none has said that it waits. */
  readonly anyway?: true
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
    const said = JSON.parse(readFileSync(path, 'utf8')) as Partial<AskedMove>
    const { epoch, to, anyway, refused } = said
    if (!Number.isSafeInteger(epoch) || (typeof to !== 'string' && to !== null)) return null
    const asked: AskedMove = { epoch: Number(epoch), to, ...(anyway === true ? { anyway } : {}) }
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
