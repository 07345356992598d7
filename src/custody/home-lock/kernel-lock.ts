import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { nativeLocks, openFileToLock } from '../../disk/native-locks.js'

/**
 * A lock that the kernel keeps and that ends with its process, however that ends: an open file
 * description lock of fcntl(2) on Linux, flock(2) on macOS. Node offers neither.
 *
 * - A file that merely exists, or names a pid, outlives kill -9 and then counts as locked, or is
 *   removed while two processes check it; the pid may belong to another process by now. Here nothing
 *   has to be removed: the file stays for good, and its content is only for people.
 * - A lease that is renewed on a timer (proper-lockfile) is lost by a process that is stopped for
 *   a while and then continues to write.
 * - An abstract Unix socket exists only on Linux and ends at the border of a network namespace, of
 *   which the quorum signer's unit has its own; a socket file has to be probed and removed, where
 *   two starts race.
 * - LMDB's own locks let many processes in on purpose.
 *
 * The lock belongs to the file, not to its name: the same home by another path, a symbolic link or
 * a bind mount is the same lock. Threads share their process's lock; a child process inherits none.
 */
export interface HeldLock {
  /** False once its file was removed or replaced: another process can lock that name then. */
  inPlace(): boolean
  /** Releases the lock, as the end of the process does. */
  release(): void
}

/** The record that the holder wrote for people; the lock does not depend on it. */
export interface LockHolder {
  /** A name such as `the wallet service`. */
  readonly name: string
  readonly pid: number
  readonly host: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** Another process holds the lock. */
export class LockHeld extends Error {
  /** Null when the holder has not written its name yet. */
  readonly holder: LockHolder | null

  constructor(path: string, holder: LockHolder | null) {
    super(`${path} is locked by ${describeHolder(holder)}`)
    this.name = 'LockHeld'
    this.holder = holder
  }
}

/** A sentence about a file that cannot serve as a lock, and what to do. */
export class NoLock extends Error {
  constructor(sentence: string) {
    super(sentence)
    this.name = 'NoLock'
  }
}

/** In a directory that domains share, another domain may have put something at this path. */
const NOT_A_LOCK: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ELOOP', 'EISDIR'])
const RECORD_BYTES_MAX = 1_024
/** A holder writes its name right after it gets the lock; checking a lock is faster than this. */
const NAME_WAIT_MS_MAX = 500
const NAME_POLL_MS = 10

/**
 * @param name the holder's name in the error that another process gets
 * @throws LockHeld
 * @throws NoLock
 */
export function takeLock(path: string, name: string): HeldLock {
  const file = openLockFile(path)
  try {
    const holder = { name, pid: process.pid, host: hostname(), since: new Date().toISOString() }
    waitForLock(file, path)
    // The file was removed after it was opened: others would not find this lock by its name.
    if (!isAt(path, file)) throw new NoLock(`${path} was just replaced. Start this process again.`)
    writeHolder(file, holder)
    return {
      inPlace: () => isAt(path, file),
      release() {
        writeHolder(file, null)
        closeSync(file)
      },
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Releases the lock when the work has finished or failed.
 * @throws what `take` throws
 */
export async function holding<T>(take: () => HeldLock, work: () => Promise<T>): Promise<T> {
  const lock = take()
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Returns the lock's holder as `describeHolder` names it; null when the lock is free. */
export function lockedBy(path: string): string | null {
  let file: number
  try {
    file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  try {
    return tryLock(file, path) ? null : describeHolder(readHolder(file))
  } finally {
    closeSync(file)
  }
}

/** `the wallet service, pid 4242, since 2026-01-31T08:00:00.000Z` */
export function describeHolder(holder: LockHolder | null): string {
  if (holder === null) return 'another process that has only just started'
  const where = holder.host === hostname() ? '' : ` on ${holder.host}`
  return `${holder.name}, pid ${holder.pid}${where}, since ${holder.since}`
}

/**
 * Opens the lock file, but never through a symbolic link, and only a file with a single name: in a
 * directory that domains share, another domain could have put a link there, and its target would be
 * overwritten.
 */
function openLockFile(path: string): number {
  makeDirectory(dirname(path))
  const file = openOrSay(path)
  const { nlink } = fstatSync(file)
  // With no name left, the file was just removed, which is found out once it is locked.
  if (nlink <= 1) return file
  closeSync(file)
  throw new NoLock(
    `${path} has ${nlink} names, so it cannot serve as a lock. A home copied with hard links (cp -al) shares its files with the original: replace the copy with a full one (cp -a), and keep the lock file.`,
  )
}

function openOrSay(path: string): number {
  try {
    return openFileToLock(path)
  } catch (error) {
    const code = String(codeOf(error))
    if (!NOT_A_LOCK.has(code)) throw error
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    const whose =
      owner === undefined ? 'its directory is closed to it' : `it belongs to uid ${owner}`
    throw new NoLock(
      `${path} cannot be opened by uid ${process.geteuid?.()} (${code}): ${whose}. Only the domain's own process makes this file: find out who made it, remove it while no process of the domain runs, and start this process again.`,
    )
  }
}

/** Tells whether the path still leads to the file that this process holds. */
function isAt(path: string, file: number): boolean {
  const named = lstatSync(path, { throwIfNoEntry: false })
  const { dev, ino } = fstatSync(file)
  return named !== undefined && named.dev === dev && named.ino === ino
}

/** Creates only the last directory: a missing home was misspelled. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** @throws LockHeld, after the holder has had time to write its name */
function waitForLock(file: number, path: string): void {
  const deadlineMs = performance.now() + NAME_WAIT_MS_MAX
  for (;;) {
    if (tryLock(file, path)) return
    const holder = readHolder(file)
    const isCertain = holder !== null && mayRun(holder)
    if (isCertain) throw new LockHeld(path, holder)
    // The lock was held for a check only, or its holder has not written its name yet.
    if (performance.now() > deadlineMs) throw new LockHeld(path, null)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NAME_POLL_MS)
  }
}

/** @throws Error when the platform or the file system has no locks */
function tryLock(file: number, path: string): boolean {
  try {
    return nativeLocks().tryLock(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `${path} cannot be locked (${reason}): two processes could write here without noticing, so this one does not`,
      { cause },
    )
  }
}

function writeHolder(file: number, holder: LockHolder | null): void {
  try {
    ftruncateSync(file, 0)
    if (holder !== null) writeSync(file, `${JSON.stringify(holder)}\n`, 0)
  } catch {
    // A full disk must not keep a process from its home: the lock works without the name.
  }
}

function readHolder(file: number): LockHolder | null {
  const bytes = Buffer.alloc(RECORD_BYTES_MAX)
  const length = readSync(file, bytes, 0, bytes.length, 0)
  try {
    return holderOf(JSON.parse(bytes.toString('utf8', 0, length)))
  } catch {
    return null
  }
}

function holderOf(record: unknown): LockHolder | null {
  const { name, pid, host, since } = record as Record<keyof LockHolder, unknown>
  const isWhole =
    typeof name === 'string' &&
    typeof pid === 'number' &&
    typeof host === 'string' &&
    typeof since === 'string'
  return isWhole ? { name, pid, host, since } : null
}

/**
 * False when the record names an earlier holder. Processes on other hosts cannot be checked, so
 * they count.
 */
function mayRun({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
