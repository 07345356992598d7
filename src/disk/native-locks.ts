import { closeSync, constants, fchownSync, openSync, statSync, unlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/**
 * Locks on whole files that the kernel keeps. They end with the process or thread that has the file
 * open, however it ends: locks of open file descriptions (fcntl(2)) on Linux, flock(2) on macOS.
 * Node offers neither.
 */
interface NativeLocks {
  /**
   * @param options exclusive by default
   * @returns false if another file description has the lock
   */
  tryLock(file: number, options?: { readonly shared: boolean }): boolean
  unlock(file: number): void
}

// The package has no types. It is loaded on use, so that commands which need no home run on a
// machine without its binary.
const require = createRequire(import.meta.url)
let loaded: NativeLocks | null = null

/** @throws Error if there is no binary for this platform; then no home may be opened */
export function nativeLocks(): NativeLocks {
  loaded ??= require('fs-native-extensions') as NativeLocks
  return loaded
}

const FILE_MODE = 0o600
const OPEN = constants.O_RDWR | constants.O_NOFOLLOW
const MAKE = OPEN | constants.O_CREAT | constants.O_EXCL

/**
 * Opens a lock file, never through a symbolic link. Commands of root create the lock files of a
 * domain too. Those are given to the owner of their directory, who otherwise could never open them;
 * an existing file is not given to anybody.
 */
export function openFileToLock(path: string): number {
  return makeNew(path) ?? openSync(path, OPEN)
}

/** @returns null if the file exists */
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
