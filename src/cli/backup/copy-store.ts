import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { openLmdb } from '../../disk/lmdb-file.js'

/** More than any store has. */
const DATABASES_MAX = 64

/**
 * Copies a store as one snapshot, also while its process writes: readers of LMDB are many and in any
 * process, and its lock file tells the writer which pages they still see. As long as it takes, the
 * store grows in place of using freed pages again. Free pages are left out of the copy.
 * @param from the file, `data.mdb` of its directory or a file by itself
 */
export async function copyStore(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const isDirectory = from.endsWith('/data.mdb')
  const root = openLmdb({
    path: isDirectory ? dirname(from) : from,
    noSubdir: !isDirectory,
    maxDbs: DATABASES_MAX,
    readOnly: true,
  })
  try {
    await root.backup(isDirectory ? dirname(to) : to, true)
  } finally {
    await root.close()
  }
}
