import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * A copy of a home is made beside its place, and gets its name when it is whole. Private keys can be in
 * it, so that one whose process was killed is no more left than one that failed.
 */
const HALF_COPY = /^(.+)\.(\d+)\.partial$/

/**
 * Makes the directory in which this process makes the copy that is to be at `to`, and clears away those
 * that others before it left.
 * @throws Error where something is there already: whoever made it could read what is put into it
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
 * Removes this user's copies that no process is at work on any more.
 * @param isMeant asked with the name that the copy was to have
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
