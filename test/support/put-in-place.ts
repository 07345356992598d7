import { copyFileSync, renameSync } from 'node:fs'

/** As a renewal does it: a file in the place of another, whole. */
export function putInPlace(from: string, path: string): void {
  copyFileSync(from, `${path}.new`)
  renameSync(`${path}.new`, path)
}
