import { randomInt } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** The number of values that `randomInt` draws from. */
const DRAFTS = 2 ** 48 - 1

/**
 * Replaces a file, or creates it. The file is durable on return; a crash or a full disk leaves the
 * old file or the new one, never a part.
 *
 * Domains share the home and its `run`, and root writes there. The draft therefore has an
 * unpredictable name and must be a new file, so that nothing is written through another user's
 * link.
 */
export function putFile(path: string, content: Uint8Array | string, mode: number): void {
  const draft = `${path}.${randomInt(DRAFTS)}.new`
  const file = openSync(draft, 'wx', mode)
  try {
    // Independent of the umask of this process.
    fchmodSync(file, mode)
    // Not `writeSync`, which may write only a part when the disk is almost full.
    writeFileSync(file, content)
    fsyncSync(file)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  sync(dirname(path))
}

/** Moves a file or directory over another; durable on return. */
export function moveDurably(from: string, to: string): void {
  renameSync(from, to)
  sync(dirname(to))
}

/** Syncs a file's contents, or a directory's list of files. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
