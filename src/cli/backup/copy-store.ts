import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { openLmdb } from '../../disk/lmdb-file.js'

/** More than any store has. */
const DATABASES_MAX = 64

/**
 * Copies a store as one snapshot, even while its process writes: LMDB has many readers in any
 * process, and its lock file tells the writer which pages they use. During the copy the store grows
 * instead of reusing freed pages. Free pages are not copied.
 * @param from the file: `data.mdb` in its directory, or a file by itself
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
