import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * A home's copy is made beside its destination and gets its name when it is complete. It may
 * contain private keys, so the copy of a killed process is removed as that of a failed one is.
 */
const HALF_COPY = /^(.+)\.(\d+)\.partial$/

/**
 * Makes the directory in which this process builds the copy for `to`, and removes those that
 * earlier processes left.
 * @throws Error when something is already there: another user could read what is written into it
 */
export function beginCopy(to: string): string {
  const above = dirname(to)
  mkdirSync(above, { recursive: true, mode: 0o700 })
  clearHalfCopies(above, (name) => name === basename(to))
  const half = `${to}.${process.pid}.partial`
  mkdirSync(half, { mode: 0o700 })
  return half
}

/**
 * Removes this user's copies whose process has ended.
 * @param isMeant called with the final name of a copy
 */
export function clearHalfCopies(directory: string, isMeant: (name: string) => boolean): void {
  for (const found of readdirSync(directory)) {
    const [, name, pid] = HALF_COPY.exec(found) ?? []
    if (name === undefined || !isMeant(name) || isAtWork(Number(pid))) continue
    const path = join(directory, found)
    const { uid } = lstatSync(path)
    if (uid === (process.geteuid?.() ?? uid)) rmSync(path, { recursive: true, force: true })
  }
}

/** One of this process's own number was left by an earlier one, as in a container whose first it is. */
function isAtWork(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
