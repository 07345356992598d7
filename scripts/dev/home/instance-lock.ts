import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  describeHolder,
  type HeldLock,
  LockHeld,
  lockedBy,
  takeLock,
} from '../../../src/custody/home-lock/kernel-lock.js'
import { type ProcessIdentity, signalProcess } from '../supervision/process-identity.js'
import { readJsonFile, writeJsonAtomically } from './json-file.js'
import { type DevHome, HomeError } from './layout.js'

/** Allows one running instance per home; the kernel ends the lock with its process. */
export interface InstanceLock {
  /** Stored for the next start, in case this instance is killed with all its helpers. */
  recordChildren(children: readonly ProcessIdentity[]): void
  release(): void
}

const identity = z.object({ pid: z.int().positive(), startedAt: z.string() })

/**
 * @param command such as `npm start`, shown to a process that is refused
 * @throws HomeError when a running instance uses the home
 */
export function lockHome(home: DevHome, command: string): InstanceLock {
  const lock = take(home, command)
  endOrphans(home)
  return {
    recordChildren: (children) => writeJsonAtomically(childrenPath(home), children),
    release() {
      rmSync(childrenPath(home), { force: true })
      lock.release()
    },
  }
}

/**
 * Returns the running instance of this home, such as `npm start, pid 4242, since …`; null without
 * one.
 */
export function homeOwner(home: DevHome): string | null {
  return lockedBy(lockPath(home))
}

/** Returns the pid of the running instance's command; null without one. */
export function instancePid(home: DevHome): number | null {
  if (homeOwner(home) === null) return null
  return readJsonFile(lockPath(home), z.object({ pid: z.int().positive() }))?.pid ?? null
}

/** Ends children of an earlier instance whose reaper was killed with it. */
function endOrphans(home: DevHome): void {
  const orphans = readJsonFile(childrenPath(home), z.array(identity)) ?? []
  for (const orphan of orphans) signalProcess(orphan, 'SIGKILL')
}

function take(home: DevHome, command: string): HeldLock {
  try {
    return takeLock(lockPath(home), command)
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error
    throw new HomeError(
      `${home.root} is in use by ${describeHolder(error.holder)}. Stop it, or set COUNTERSIGN_HOME and PORT for a second instance.`,
    )
  }
}

function lockPath(home: DevHome): string {
  return join(home.run, 'instance.lock')
}

function childrenPath(home: DevHome): string {
  return join(home.run, 'children.json')
}
