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
   * Runs while nobody commits, opens or closes, in whatever process. Blocks this thread meanwhile.
   * @throws Error where somebody has been amid a commit, or opening, for half a minute
   */
  exclusively<T>(run: () => T): T
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
/** A commit takes milliseconds. One that takes long may hold up an opening, and not all others by it. */
const PATIENCE_MS = 250
/** Those who open at once do not meet again at once. */
const PAUSE_MS = { least: 50, spread: 100 }

/** @throws Error where no lock can be had */
export function openGate({ lock, opening, commits }: GateFiles): OpenGate {
  const files: number[] = []
  try {
    files.push(openFileToLock(opening), openFileToLock(commits))
  } catch (error) {
    for (const file of files) closeSync(file)
    if (tellsNobody(lock)) return UNGATED
    throw error
  }
  return gateOf(files as [number, number], opening)
}

/** Of whoever can write no lock file of LMDB, as on a file system that is read alone, none hears. */
function tellsNobody(lock: string): boolean {
  try {
    accessSync(existsSync(lock) ? lock : dirname(lock), constants.W_OK)
    return false
  } catch {
    return true
  }
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
  const { dev, ino } = fstatSync(commits, { bigint: true })
  let isOpen = true

  function isAlone(): boolean {
    const untilMs = performance.now() + PATIENCE_MS
    while (!tryLock(commits)) {
      if (performance.now() > untilMs) return false
      rest(POLL_MS)
    }
    return true
  }

  function waitUntilAlone(): void {
    const untilMs = performance.now() + HELD_UP_MS_MAX
    for (;;) {
      const isNext = tryLock(turn)
      if (isNext) {
        if (isAlone()) return
        unlock(turn)
      }
      if (performance.now() > untilMs) {
        throw new Error(
          `${path}: another process has been opening the store, or amid a commit to it, for half a minute; \`lsof\` on that file says which`,
        )
      }
      rest(isNext ? PAUSE_MS.least + (process.pid % PAUSE_MS.spread) : POLL_MS)
    }
  }

  return {
    store: `${dev} ${ino}`,
    exclusively(run) {
      waitUntilAlone()
      try {
        return run()
      } finally {
        unlock(commits)
        unlock(turn)
      }
    },
    enter() {
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
