import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { sync } from '../../disk/put-file.js'
import { copyStore } from './copy-store.js'
import type { HomeFile } from './parts.js'

/**
 * Copies a home's file, even while its process writes, to the same relative path below another
 * directory.
 * @returns the path of the copy; the caller sets its mode
 */
export async function copyHomeFile(
  { path, kind }: Pick<HomeFile, 'path' | 'kind'>,
  home: string,
  to: string,
): Promise<string> {
  const [source, target] = [join(home, path), join(to, path)]
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  if (kind === 'lmdb') await copyStore(source, target)
  // Such files are replaced by renames, so a copy has either the old or the new content.
  else copyFileSync(source, target)
  return target
}

/** Makes a file durable, with its parent directories up to `top`. */
export function syncUpTo(file: string, top: string): void {
  const highest = resolve(top)
  for (let at = resolve(file); at.length >= highest.length; at = dirname(at)) sync(at)
}
