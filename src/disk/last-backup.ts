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
 * `service/last-backup.json` records when `backup create` last copied the service's part and
 * whether the copy is whole. The service shows it; it belongs to this machine, so no backup
 * contains it.
 */
const lastBackup = z.strictObject({
  ended_at: z.iso.datetime(),
  result: z.enum(['whole', 'failed']),
  /** Bytes of all files of the copy; null if it failed. */
  bytes: z.int().min(0).nullable(),
})
export type LastBackup = z.infer<typeof lastBackup>

const PRIVATE_MODE = 0o600

/**
 * Not synced: the next backup writes the note again if a crash loses it. Root may make the backup
 * in a directory of the service's user, so the file must be new: otherwise root could write to the
 * target of a link there and give it to that user.
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

/** @returns null if no backup was made here, or its note cannot be read */
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
