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

/** As many names as `randomInt` draws from. */
const DRAFTS = 2 ** 48 - 1

/**
 * Puts a file in the place of another one, or where there is none. Durable on return; a crash or a
 * full disk leaves the old file or the new one, never a part of it.
 *
 * Domains share the home and its `run`, and root writes there: the draft is a file that this call
 * made, by a name that nobody can foretell, so that nothing is written through a link of another's.
 */
export function putFile(path: string, content: Uint8Array | string, mode: number): void {
  const draft = `${path}.${randomInt(DRAFTS)}.new`
  const file = openSync(draft, 'wx', mode)
  try {
    // Whatever the umask is, which a process's own files are made under.
    fchmodSync(file, mode)
    // Not `writeSync`, which may write a part alone where the disk is about to be full.
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

/** Puts one file or directory in the place of another, durable on return. */
export function moveDurably(from: string, to: string): void {
  renameSync(from, to)
  sync(dirname(to))
}

/** What is in a file, or which files are in a directory. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
