import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { isAlive, ownMark } from './process-mark.js'

/**
 * Keeps processes from committing to an LMDB file while another one opens it.
 *
 * The LMDB of lmdb-js has the fault of OpenLDAP's ITS#9496: whoever opens a file reads the number of
 * its last transaction, and a moment later tells all processes that this one is the last. What was
 * committed between the two is gone: the next commit is made on top of the one before, over the pages
 * of what it no longer knows. So a command that reads the store of a running service, as a backup
 * does, could take back what had been acknowledged. No option of lmdb-js avoids it.
 *
 * Beside the file lies a directory. Whoever opens puts a flag there and waits until no writer of
 * another process is amid a commit; whoever commits notes it first and then looks for the flag, so
 * that one of the two sees the other. A process that died holds nobody up.
 */
export interface OpenGate {
  /**
   * Runs while nobody in another process commits, opens or closes. Blocks this thread meanwhile.
   * @throws Error that says who holds it up, after half a minute
   */
  exclusively<T>(run: () => T): T
  /** Of one thread that has the file open. */
  writer(): GateWriter
}

export interface GateWriter {
  /** @returns false where somebody opens the file: nothing is noted, and nothing may be committed */
  enter(): boolean
  leave(): void
  /**
   * Lets those go by who died as they opened.
   * @returns who is at it, for people; null where nobody is
   */
  holdup(): string | null
  close(): void
}

/** An opening takes a millisecond. */
const HOLDUP_MS_MAX = 30_000
const POLL_MS = 1
/** What a writer notes before it looks for the flag is seen by then, whatever the processor's order. */
const SETTLE_MS = 1

const FLAG = 'opening'
/** Held by whoever removes the flag of a dead process, so that none removes another's. */
const CLEARING = 'clearing'
const WRITER = 'writer'

const IDLE = Buffer.from('0')
const BUSY = Buffer.from('1')

/** Of this thread's writers. */
let writers = 0

/** @param directory is made where it is missing; what is copied from elsewhere counts for nothing */
export function openGate(directory: string): OpenGate {
  if (!isMade(directory)) return UNGATED
  const place = String(statSync(directory, { bigint: true }).ino)
  const mark = `${place}.${ownMark()}`
  const flag = join(directory, FLAG)

  /** @returns of whom the flag is; null where there is none */
  function flagged(): string | null {
    try {
      return readlinkSync(flag)
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  /** @returns who opens, where that is not known to have died */
  function opener(): string | null {
    const found = flagged()
    if (found === null || !isDead(found)) return found
    return clearOf(found) ? null : found
  }

  function clearOf(dead: string): boolean {
    const clearing = join(directory, CLEARING)
    try {
      mkdirSync(clearing)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    try {
      if (flagged() === dead) rmSync(flag)
      return true
    } finally {
      rmdirSync(clearing)
    }
  }

  function isDead(found: string): boolean {
    const [at, process] = partsOf(found)
    return at !== place || isAlive(process) === false
  }

  function putFlag(): boolean {
    try {
      // Its text is there as soon as it is itself, which of a file's would not hold.
      symlinkSync(mark, flag)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return false
    }
  }

  /** @returns a writer that is amid a commit, in another process */
  function busyWriter(): string | null {
    for (const name of readdirSync(directory)) {
      const [kind = '', ...rest] = name.split('.')
      if (kind !== WRITER) continue
      const written = rest.join('.')
      if (isOwn(written)) continue
      if (isDead(written)) rmSync(join(directory, name), { force: true })
      else if (isBusy(join(directory, name))) return name
    }
    return null
  }

  const isOwn = (written: string) => partsOf(written).join('.') === mark

  function hasOthers(): boolean {
    return readdirSync(directory).some(
      (name) => name.startsWith(`${WRITER}.`) && !isOwn(name.slice(WRITER.length + 1)),
    )
  }

  return {
    exclusively(run) {
      waitUntil(
        () => putFlag() || (opener() === null && putFlag()),
        () =>
          `${directory} is held by ${describe(flagged() ?? '')}, which opens the file: end it, or remove ${flag} where it is gone`,
      )
      try {
        if (hasOthers()) {
          rest(SETTLE_MS)
          waitUntil(
            () => busyWriter() === null,
            () => {
              const name = busyWriter() ?? ''
              return `${describe(name.slice(WRITER.length + 1))} has been amid a commit for long: end it, or remove ${join(directory, name)} where it is gone`
            },
          )
        }
        return run()
      } finally {
        rmSync(flag, { force: true })
      }
    },
    writer() {
      const path = join(directory, [WRITER, mark, threadId, ++writers].join('.'))
      const file = openSync(path, 'wx', 0o600)
      const note = (state: Buffer) => void writeSync(file, state, 0, 1, 0)
      note(IDLE)
      return {
        enter() {
          note(BUSY)
          if (lstatSync(flag, { throwIfNoEntry: false }) === undefined) return true
          note(IDLE)
          return false
        },
        leave: () => note(IDLE),
        holdup() {
          const found = opener()
          return found === null ? null : `${describe(found)}, by ${flag}`
        },
        close() {
          closeSync(file)
          rmSync(path, { force: true })
        },
      }
    },
  }
}

/** @returns false where nothing can be written, so that nobody commits either */
function isMade(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return false
    throw error
  }
}

const UNGATED: OpenGate = {
  exclusively: (run) => run(),
  writer: () => ({ enter: () => true, leave: () => {}, holdup: () => null, close: () => {} }),
}

/** @param written place.boot.namespace.pid.began, and what may follow */
function partsOf(written: string): readonly [place: string, process: string] {
  const [place = '', ...process] = written.split('.')
  return [place, process.slice(0, 4).join('.')]
}

function describe(written: string): string {
  return `process ${partsOf(written)[1].split('.')[2] ?? '?'}`
}

function isBusy(path: string): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      const state = Buffer.alloc(1)
      readSync(file, state, 0, 1, 0)
      return state.equals(BUSY)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function waitUntil(isSo: () => boolean, reason: () => string): void {
  const deadlineMs = performance.now() + HOLDUP_MS_MAX
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error(reason())
    rest(POLL_MS)
  }
}

/** Blocks the thread. */
export function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
