import { copyFileSync, renameSync } from 'node:fs'

/** Replaces a file by another in one step, as a renewal does. */
export function putInPlace(from: string, path: string): void {
  copyFileSync(from, `${path}.new`)
  renameSync(`${path}.new`, path)
}
