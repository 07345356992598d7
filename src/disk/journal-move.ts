import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile } from './put-file.js'

/**
 * `service/journal-move` is an operator's request to the service that leads the journal: hand it
 * over to a standby, and end. It names the epoch of that leader and applies to no other. The file
 * is removed once the journal has the request.
 */
export interface AskedMove {
  readonly epoch: number
  /** Id of the node that should lead (`store/journal-move.ts`); null for any standby. */
  readonly to: string | null
  /**
   * Set if the leader should end even though no standby reported ready. Only without a named node.
   */
  readonly anyway?: true
  /** The service's reason, as text, why it did not hand over. */
  readonly refused?: string
}

const FILE = 'journal-move'
/** Readable, because it holds no secret and root may have written it for the service's user. */
const MODE = 0o644

export const journalMovePath = (home: string) => join(home, 'service', FILE)

/** @returns null if there is no such file or it cannot be read */
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
