import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { sync } from '../../disk/put-file.js'
import { copyStore } from './copy-store.js'
import type { HomeFile } from './parts.js'

/**
 * Copies a file of a home, also while its process writes, to the same place below another directory.
 * @returns where the copy is; its mode is for the caller to set
 */
export async function copyHomeFile(
  { path, kind }: Pick<HomeFile, 'path' | 'kind'>,
  home: string,
  to: string,
): Promise<string> {
  const [source, target] = [join(home, path), join(to, path)]
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  if (kind === 'lmdb') await copyStore(source, target)
  // They are replaced by renames: a copy is of the one or of the other.
  else copyFileSync(source, target)
  return target
}

/** Makes a file durable, with the directories that lead to it from `top`. */
export function syncUpTo(file: string, top: string): void {
  const highest = resolve(top)
  for (let at = resolve(file); at.length >= highest.length; at = dirname(at)) sync(at)
}
