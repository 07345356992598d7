import { accessSync, closeSync, constants, existsSync, fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { nativeLocks, openFileToLock } from './native-locks.js'

/**
 * Keeps processes from committing to an LMDB file while another one opens it.
 *
 * The LMDB of lmdb-js has the fault of OpenLDAP's ITS#9496: whoever opens a file reads the number of
 * its last transaction, and a moment later tells all processes that this one is the last. What was
 * committed between the two is gone: the next commit is made on top of the one before, over the pages
 * of what it no longer knows. So a command that reads the store of a running service, as a backup
 * does, could take back what had been acknowledged. No option of lmdb-js avoids it.
 *
 * Beside the file lie two more, which are locked by the kernel and have nothing in them. Whoever
 * commits shares the one until it has; whoever opens has it alone. By the other one, whoever opens
 * comes to it though commits overlap without end.
 */
export interface OpenGate {
  /**
   * Runs while nobody commits, opens or closes, in whatever process. Blocks this thread meanwhile: one
   * that has commits under way to another store keeps who opens that one waiting for as long.
   * @param timeMs default: half a minute
   * @throws Error where somebody has been amid a commit, or opening, for all that time
   */
  exclusively<T>(run: () => T, timeMs?: number): T
  /** @returns false where somebody opens the file, or wants to: nothing may be committed */
  enter(): boolean
  leave(): void
  /** Whether somebody wants to open the file: who commits without a pause has to make one. */
  isWanted(): boolean
  /** Whatever it holds is let go; nothing is held from then on. */
  close(): void
  /** The same for the same store; null: nobody hears of this one's openings. */
  readonly store: string | null
}

/** Paths. */
export interface GateFiles {
  /** LMDB's own. */
  readonly lock: string
  readonly opening: string
  readonly commits: string
}

const SHARED = { shared: true }

const HELD_UP_MS_MAX = 30_000
const POLL_MS = 1
/**
 * What waits for LMDB's lock to be committed, from all threads, takes milliseconds as a rule. One commit
 * that takes long holds up an opening, and not all others by it; with each try more is waited for.
 */
const PATIENCE_MS = { first: 250, most: 8_000 }
/** Those who open at once do not meet again at once. */
const PAUSE_MS = { least: 50, spread: 100 }
/** Of whoever may read alone. */
const NO_WRITERS: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM'])

/** @throws Error where no lock can be had */
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

/** Of whoever can write no lock file of LMDB, as on a file system that is read alone, none hears. */
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
      `${path} and the lock of commits beside it have other names: remove them while no process has the store open`,
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
          `${path}: another process has been opening the store, or amid a commit to it, for ${Math.round(timeMs / 1_000)} s; \`lsof\` on that file names all that have it open`,
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
