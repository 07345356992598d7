import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/**
 * `service/last-backup.json`: when `backup create` last copied the service's part, and whether the
 * copy became whole. It is a note for the service to show, of this machine alone: no backup has it.
 */
const lastBackup = z.strictObject({
  ended_at: z.iso.datetime(),
  result: z.enum(['whole', 'failed']),
  /** Of all files of the copy; null of a failed one. */
  bytes: z.int().min(0).nullable(),
})
export type LastBackup = z.infer<typeof lastBackup>

const PRIVATE_MODE = 0o600

/**
 * Not synced: a note that a crash takes away is made again by the next backup. Root may make the
 * backup in a folder of the service's user, so the file has to be a new one: what is written and given
 * to that user is never what a link there leads to.
 */
export function noteBackup(home: string, note: LastBackup): void {
  const path = pathIn(home)
  const fresh = `${path}.${randomUUID()}`
  const file = openSync(fresh, 'wx', PRIVATE_MODE)
  try {
    writeFileSync(file, `${JSON.stringify(note)}\n`)
    const { uid, gid } = statSync(dirname(path))
    if (process.geteuid?.() === 0) fchownSync(file, uid, gid)
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/** @returns null: none was made here, or what is noted of it cannot be read */
export function readLastBackup(home: string): LastBackup | null {
  try {
    return lastBackup.parse(JSON.parse(readFileSync(pathIn(home), 'utf8')))
  } catch {
    return null
  }
}

function pathIn(home: string): string {
  return join(home, 'service', 'last-backup.json')
}
