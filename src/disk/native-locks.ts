import { closeSync, constants, fchownSync, openSync, statSync, unlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/**
 * Locks on whole files that the kernel keeps, and that end with the process or thread that has the file
 * open, however that ends: of open file descriptions (fcntl(2)) on Linux, flock(2) on macOS. Node
 * offers neither.
 */
export interface NativeLocks {
  /**
   * @param options by default nobody else has it
   * @returns false when another file description has it
   */
  tryLock(file: number, options?: { readonly shared: boolean }): boolean
  unlock(file: number): void
}

// It has no types, and a machine without its binary can still do what needs no home.
const require = createRequire(import.meta.url)
let loaded: NativeLocks | null = null

/** @throws Error where there is no binary for this platform: nothing of a home may be opened */
export function nativeLocks(): NativeLocks {
  loaded ??= require('fs-native-extensions') as NativeLocks
  return loaded
}

const FILE_MODE = 0o600
const OPEN = constants.O_RDWR | constants.O_NOFOLLOW
const MAKE = OPEN | constants.O_CREAT | constants.O_EXCL

/**
 * Opens a file to lock, never through a symbolic link. Root's commands make those of a domain, too:
 * they are given to whose directory they lie in, who could not open them ever after. A file that is
 * there already is nobody's to give away.
 */
export function openFileToLock(path: string): number {
  return makeNew(path) ?? openSync(path, OPEN)
}

/** @returns null when there is one */
function makeNew(path: string): number | null {
  let file: number
  try {
    file = openSync(path, MAKE, FILE_MODE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  }
  try {
    if (process.geteuid?.() === 0) {
      const { uid, gid } = statSync(dirname(path))
      fchownSync(file, uid, gid)
    }
    return file
  } catch (error) {
    closeSync(file)
    unlinkSync(path)
    throw error
  }
}
