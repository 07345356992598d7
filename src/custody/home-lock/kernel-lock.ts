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
 * - A file that merely exists, or names a pid, outlives kill -9 and is then taken for locked, or
 *   is cleared away while two look at it; a pid may be another process's by now. Here nothing has
 *   to be cleared: the file stays for good, and what is written in it is for people alone.
 * - A lease that is renewed on a timer (proper-lockfile) is lost by a process that is stopped for
 *   a while and then goes on writing.
 * - An abstract Unix socket is Linux's alone and ends at the border of a network namespace, which
 *   the quorum signer's unit has of its own; a socket file has to be probed and removed, where two
 *   starts race.
 * - LMDB's own locks let many processes in on purpose.
 *
 * The lock belongs to the file, not to its name: the same home by another path, a symbolic link or
 * a bind mount is the same lock. Threads share their process's; a child process inherits nothing.
 */
export interface HeldLock {
  /** False once its file was removed or replaced: another process can lock that name by now. */
  inPlace(): boolean
  /** The end of the process does the same. */
  release(): void
}

/** As the holder wrote it down, for people; the lock itself does not rest on it. */
export interface LockHolder {
  /** Such as `the wallet service`. */
  readonly name: string
  readonly pid: number
  readonly host: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** Somebody else has the lock. */
export class LockHeld extends Error {
  /** Null: it has not written its name yet. */
  readonly holder: LockHolder | null

  constructor(path: string, holder: LockHolder | null) {
    super(`${path} is locked by ${describeHolder(holder)}`)
    this.name = 'LockHeld'
    this.holder = holder
  }
}

/** A sentence about a file that cannot be a lock, and what can be done. */
export class NoLock extends Error {
  constructor(sentence: string) {
    super(sentence)
    this.name = 'NoLock'
  }
}

/** In a directory that domains share, another one can have put something in the way. */
const NOT_A_LOCK: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ELOOP', 'EISDIR'])
const RECORD_BYTES_MAX = 1_024
/** A holder writes its name right after it has the lock; a look at a lock takes less. */
const NAME_WAIT_MS_MAX = 500
const NAME_POLL_MS = 10

/**
 * @param name who holds it, for the sentence that another process is refused with
 * @throws LockHeld
 * @throws NoLock
 */
export function takeLock(path: string, name: string): HeldLock {
  const file = openLockFile(path)
  try {
    const holder = { name, pid: process.pid, host: hostname(), since: new Date().toISOString() }
    waitForLock(file, path)
    // Removed after it was opened: what is locked now has no name that others would look at.
    if (!isAt(path, file)) throw new NoLock(`${path} was just replaced. Start this one again.`)
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

/** Lets go of the lock when the work is done or has failed. @throws as `take` does */
export async function holding<T>(take: () => HeldLock, work: () => Promise<T>): Promise<T> {
  const lock = take()
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Who has the lock now, as `describeHolder` says it; null when nobody has. */
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
 * Never through a symbolic link, and nothing but a file with one name: in a directory that domains
 * share, another one could have put it there, and what it leads to would be written over.
 */
function openLockFile(path: string): number {
  makeDirectory(dirname(path))
  const file = openOrSay(path)
  const { nlink } = fstatSync(file)
  // None: removed this moment, which is found once it is locked.
  if (nlink <= 1) return file
  closeSync(file)
  throw new NoLock(
    `${path} has ${nlink} names, so it is no lock. Where the home was copied with hard links (cp -al), both share their files: replace the copy by a whole one (cp -a), and leave the lock as it is.`,
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
      `${path} cannot be opened by uid ${process.geteuid?.()} (${code}): ${whose}. Nothing but the domain's own process makes this file; find out who did, remove it while no process of the domain runs, and start this one again.`,
    )
  }
}

/** Whoever looks for the lock at its path finds the file that this process holds. */
function isAt(path: string, file: number): boolean {
  const named = lstatSync(path, { throwIfNoEntry: false })
  const { dev, ino } = fstatSync(file)
  return named !== undefined && named.dev === dev && named.ino === ino
}

/** Not the one above it: a home that is not there was misspelt. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** @throws LockHeld, once the holder has had the time to write its name */
function waitForLock(file: number, path: string): void {
  const deadlineMs = performance.now() + NAME_WAIT_MS_MAX
  for (;;) {
    if (tryLock(file, path)) return
    const holder = readHolder(file)
    const isCertain = holder !== null && mayRun(holder)
    if (isCertain) throw new LockHeld(path, holder)
    // It was only looked at, or its holder has not written its name yet.
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
      `${path} cannot be locked (${reason}): two processes could write here unseen, so none does`,
      { cause },
    )
  }
}

function writeHolder(file: number, holder: LockHolder | null): void {
  try {
    ftruncateSync(file, 0)
    if (holder !== null) writeSync(file, `${JSON.stringify(holder)}\n`, 0)
  } catch {
    // A full disk must not keep a process from its home: the lock holds without the name.
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

/** False when the record is an earlier holder's: processes of other hosts cannot be seen. */
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
