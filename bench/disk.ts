import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** @returns one line about missing space for temporary files; null if there is enough */
export function shortOfDisk(neededBytes: number): string | null {
  const directory = tmpdir()
  const { bavail, bsize } = statfsSync(directory)
  const freeBytes = bavail * bsize
  return freeBytes >= neededBytes
    ? null
    : `this needs ${gigabytes(neededBytes)} in ${directory}, which has ${gigabytes(freeBytes)}; TMPDIR names another directory`
}

export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
