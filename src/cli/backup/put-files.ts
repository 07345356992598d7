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

/** The source and the destination of a restore. */
export interface Places {
  readonly home: string
  /** A directory that `backup create` wrote. */
  readonly from: string
}

const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700
/** Modes of files in the home itself, which domains with different users read. */
const COMMON_FILE = 0o644
const COMMON_DIRECTORY = 0o755

/** Private keys may be placed before a restore if the backup has none. */
export function isBroughtAlong(path: string): boolean {
  return /(^|\/)keys\/[^/]+$/.test(path) || path.endsWith('/login-keys.json')
}

/**
 * Restores a domain's files, readable only by its user.
 * @throws Error that names a file that has changed since the backup
 */
export function putDomainFiles(places: Places, files: readonly FileRecord[]): Promise<void> {
  return putAll(
    places,
    files.filter(({ path }) => !isBroughtAlong(path) || !existsSync(join(places.home, path))),
  )
}

/**
 * Restores what all domains read. An existing file stays: its owner decides which one is right.
 * @returns the existing files that differ from the backup's
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

/** Removes a domain's files, so that none of an interrupted restore remains. */
export function removeDomainFiles(home: string, files: readonly FileRecord[]): void {
  for (const { path } of files) {
    if (!isBroughtAlong(path)) rmSync(join(home, path), { force: true })
  }
}

/**
 * Corrects the mode, because the process that made the stores and locks may have had another umask.
 */
export function closeToOthers(directory: string): void {
  chmodSync(directory, PRIVATE_DIRECTORY)
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, PRIVATE_DIRECTORY)
    else if (entry.isFile()) chmodSync(path, PRIVATE_FILE)
  }
}

/** Copies a file or store, durable on return. */
export function copyDurably(source: string, target: string, mode = PRIVATE_FILE): void {
  const directoryMode = mode === PRIVATE_FILE ? PRIVATE_DIRECTORY : COMMON_DIRECTORY
  if (mkdirSync(dirname(target), { recursive: true }) !== undefined) {
    chmodSync(dirname(target), directoryMode)
  }
  // Never writes through a link that another domain has put into the home, because root may run
  // this.
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
      throw new Error(`${source} has changed since the backup: its SHA-256 differs`)
    }
  }
}
