import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256OfFile } from '../../custody-tools/maintenance/backup-domain.js'
import { sync } from '../../disk/put-file.js'
import type { FileRecord } from './manifest.js'

/** What of a backup goes where. */
export interface Places {
  readonly home: string
  /** What `backup create` wrote. */
  readonly from: string
}

const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700
/** What the domains read that lies in the home itself: a user each. */
const COMMON_FILE = 0o644
const COMMON_DIRECTORY = 0o755

/** Private keys may be put in place before a restore, where the backup has none. */
export function isBroughtAlong(path: string): boolean {
  return /(^|\/)keys\/[^/]+$/.test(path) || path.endsWith('/login-keys.json')
}

/** Files of a domain, its user's alone. @throws Error that names the file that is not as it was */
export function putDomainFiles(places: Places, files: readonly FileRecord[]): Promise<void> {
  return putAll(
    places,
    files.filter(({ path }) => !isBroughtAlong(path) || !existsSync(join(places.home, path))),
  )
}

/**
 * What all domains read. A file that is there stays: its owner decides which one is right.
 * @returns those that are there and differ from the backup's
 */
export async function putCommonFiles(
  places: Places,
  files: readonly FileRecord[],
): Promise<readonly string[]> {
  const there = files.filter(({ path }) => existsSync(join(places.home, path)))
  await putAll(
    places,
    files.filter((file) => !there.includes(file)),
  )
  const kept: string[] = []
  for (const { path, sha256 } of there) {
    if ((await sha256OfFile(join(places.home, path))) !== sha256) kept.push(path)
  }
  return kept
}

/** So that no file of a restore that was interrupted can stay. */
export function removeDomainFiles(home: string, files: readonly FileRecord[]): void {
  for (const { path } of files) {
    if (!isBroughtAlong(path)) rmSync(join(home, path), { force: true })
  }
}

/** Whatever the umask was that stores and locks in it were made under. */
export function closeToOthers(directory: string): void {
  chmodSync(directory, PRIVATE_DIRECTORY)
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, PRIVATE_DIRECTORY)
    else if (entry.isFile()) chmodSync(path, PRIVATE_FILE)
  }
}

/** A copy of a file or store, durable on return. */
export function copyDurably(source: string, target: string, mode = PRIVATE_FILE): void {
  const directoryMode = mode === PRIVATE_FILE ? PRIVATE_DIRECTORY : COMMON_DIRECTORY
  if (mkdirSync(dirname(target), { recursive: true }) !== undefined) {
    chmodSync(dirname(target), directoryMode)
  }
  // Not through a link that another domain has put into the home, which root restores into.
  rmSync(target, { force: true })
  copyFileSync(source, target, constants.COPYFILE_EXCL)
  chmodSync(target, mode)
  sync(target)
  sync(dirname(target))
}

async function putAll({ home, from }: Places, files: readonly FileRecord[]): Promise<void> {
  for (const { part, path, sha256, secret } of files) {
    const [source, target] = [join(from, path), join(home, path)]
    if (!existsSync(source)) throw new Error(`${source} is missing`)
    copyDurably(source, target, part === 'config' && !secret ? COMMON_FILE : PRIVATE_FILE)
    if ((await sha256OfFile(target)) !== sha256) {
      rmSync(target)
      throw new Error(`${source} is not what was backed up: its SHA-256 differs`)
    }
  }
}
