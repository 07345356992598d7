import { accessSync, closeSync, constants, existsSync, fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { nativeLocks, openFileToLock } from './native-locks.js'

/**
 * Keeps processes from committing to an LMDB file while another process opens it.
 *
 * The LMDB in lmdb-js has the bug of OpenLDAP's ITS#9496: a process that opens a file reads the
 * number of its last transaction, and a moment later announces that number to all processes. A
 * commit in between is lost: the next commit builds on the one before it, and overwrites its pages.
 * So a command that reads the store of a running service, as a backup does, could undo acknowledged
 * writes. No option of lmdb-js avoids this.
 *
 * Two empty files beside the store are locked by the kernel. A commit holds one of them shared, and
 * opening holds it exclusively. The other one gives openings their turn, even when commits overlap
 * without end.
 */
export interface OpenGate {
  /**
   * Runs while no process commits, opens or closes. It blocks this thread, so a process that waits
   * for this thread's commits to another store waits as long.
   * @param timeMs defaults to half a minute
   * @throws Error if another process was committing or opening for all that time
   */
  exclusively<T>(run: () => T, timeMs?: number): T
  /** @returns false if a process opens the file or waits to, so nothing may be committed */
  enter(): boolean
  leave(): void
  /**
   * Whether a process waits to open the file. A thread that commits without pause has to make one.
   */
  isWanted(): boolean
  /** Releases all locks; none can be acquired afterwards. */
  close(): void
  /** Equal for gates of the same store; null if other processes do not see this gate. */
  readonly store: string | null
}

/** Paths of the lock files. */
export interface GateFiles {
  /** LMDB's own lock file. */
  readonly lock: string
  readonly opening: string
  readonly commits: string
}

const SHARED = { shared: true }

const HELD_UP_MS_MAX = 30_000
const POLL_MS = 1
/**
 * Commits of all threads that wait for LMDB's lock usually take milliseconds. One that takes long
 * delays an opening, but not all commits behind it; each attempt waits longer.
 */
const PATIENCE_MS = { first: 250, most: 8_000 }
/** A random pause, so that two processes do not collide again at once. */
const PAUSE_MS = { least: 50, spread: 100 }
/** Errors of a process that may only read. */
const NO_WRITERS: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM'])

/** @throws Error if no lock can be acquired */
export function openGate({ lock, opening, commits }: GateFiles): OpenGate {
  const files: number[] = []
  try {
    for (const path of [opening, commits]) files.push(openFileToLock(path))
    return gateOf(files as [number, number], opening)
  } catch (error) {
    for (const file of files) closeSync(file)
    if (tellsNobody(lock, error)) return UNGATED
    throw error
  }
}

/**
 * Whether this process could not write LMDB's lock file either, as on a read-only file system; then
 * no other process sees its openings.
 */
function tellsNobody(lock: string, error: unknown): boolean {
  if (!NO_WRITERS.has(codeOf(error))) return false
  try {
    accessSync(existsSync(lock) ? lock : dirname(lock), constants.W_OK)
    return false
  } catch (denied) {
    return NO_WRITERS.has(codeOf(denied))
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const UNGATED: OpenGate = {
  store: null,
  exclusively: (run) => run(),
  enter: () => true,
  leave: () => undefined,
  isWanted: () => false,
  close: () => undefined,
}

function gateOf([turn, commits]: readonly [number, number], path: string): OpenGate {
  const { tryLock, unlock } = nativeLocks()
  const { dev, ino, nlink } = fstatSync(commits, { bigint: true })
  if (nlink > 1n || fstatSync(turn, { bigint: true }).ino === ino) {
    throw new Error(
      `${path} or the lock file of commits beside it has a second name (a hard link). Remove both files while no process has the store open`,
    )
  }
  let isOpen = true

  function requireOpen(): void {
    if (!isOpen) throw new Error(`${path}: the store was closed`)
  }

  function isAlone(patienceMs: number): boolean {
    const untilMs = performance.now() + patienceMs
    while (!tryLock(commits)) {
      if (performance.now() > untilMs) return false
      rest(POLL_MS)
    }
    return true
  }

  function waitUntilAlone(timeMs: number): void {
    const untilMs = performance.now() + timeMs
    let patienceMs = PATIENCE_MS.first
    for (;;) {
      const isNext = tryLock(turn)
      if (isNext) {
        if (isAlone(Math.min(patienceMs, untilMs - performance.now()))) return
        unlock(turn)
        patienceMs = Math.min(2 * patienceMs, PATIENCE_MS.most)
      }
      if (performance.now() > untilMs) {
        throw new Error(
          `${path}: another process has been opening the store or committing to it for ${Math.round(timeMs / 1_000)} s. Run \`lsof\` on that file to see which processes have it open`,
        )
      }
      rest(isNext ? PAUSE_MS.least + (process.pid % PAUSE_MS.spread) : POLL_MS)
    }
  }

  return {
    store: `${dev} ${ino}`,
    exclusively(run, timeMs = HELD_UP_MS_MAX) {
      requireOpen()
      waitUntilAlone(timeMs)
      try {
        return run()
      } finally {
        unlock(commits)
        unlock(turn)
      }
    },
    enter() {
      requireOpen()
      if (!tryLock(turn, SHARED)) return false
      try {
        return tryLock(commits, SHARED)
      } finally {
        unlock(turn)
      }
    },
    leave() {
      if (isOpen) unlock(commits)
    },
    isWanted() {
      requireOpen()
      if (!tryLock(turn, SHARED)) return true
      unlock(turn)
      return false
    },
    close() {
      if (!isOpen) return
      isOpen = false
      closeSync(turn)
      closeSync(commits)
    },
  }
}

/** Blocks the thread. */
export function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
