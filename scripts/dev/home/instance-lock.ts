import { linkSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  signalProcess,
} from '../supervision/process-identity.js'
import { readJsonFile, writeJsonAtomically } from './json-file.js'
import { type DevHome, HomeError } from './layout.js'

/**
 * One living instance per home. The lock names its owner by pid and start time, so that neither a
 * crash nor a reused pid leaves a home locked.
 */
export interface InstanceLock {
  /** Kept on disk for the next start, should this one be killed with all its helpers. */
  recordChildren(children: readonly ProcessIdentity[]): void
  release(): void
}

const identity = z.object({ pid: z.int().positive(), startedAt: z.string() })

/** @throws HomeError when a living instance owns the home */
export function lockHome(home: DevHome): InstanceLock {
  const own = identifyProcess(process.pid)
  if (own === null) throw new Error('this process cannot be found in the process table')
  const path = lockPath(home)
  const candidate = `${path}.${process.pid}`
  writeJsonAtomically(candidate, own)
  try {
    if (!tryLink(candidate, path)) {
      const owner = homeOwner(home)
      if (owner !== null) throw inUse(home, owner)
      rmSync(path, { force: true })
      if (!tryLink(candidate, path)) throw inUse(home, homeOwner(home))
    }
  } finally {
    rmSync(candidate, { force: true })
  }
  endOrphans(home)
  return {
    recordChildren: (children) => writeJsonAtomically(childrenPath(home), children),
    release: () => {
      rmSync(childrenPath(home), { force: true })
      rmSync(path, { force: true })
    },
  }
}

/** The living instance that uses this home, if any. */
export function homeOwner(home: DevHome): ProcessIdentity | null {
  let text: string
  try {
    text = readFileSync(lockPath(home), 'utf8')
  } catch {
    return null
  }
  const owner = identity.safeParse(JSON.parse(text))
  return owner.success && isRunning(owner.data) ? owner.data : null
}

/** Children of an earlier instance whose reaper was killed along with it. */
function endOrphans(home: DevHome): void {
  const orphans = readJsonFile(childrenPath(home), z.array(identity)) ?? []
  for (const orphan of orphans) signalProcess(orphan, 'SIGKILL')
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function inUse(home: DevHome, owner: ProcessIdentity | null): HomeError {
  const who = owner === null ? 'another npm start' : `npm start, pid ${owner.pid}`
  return new HomeError(
    `${home.root} is in use by ${who}; stop it, or set COUNTERSIGN_HOME and PORT for a second instance`,
  )
}

function lockPath(home: DevHome): string {
  return join(home.run, 'instance.json')
}

function childrenPath(home: DevHome): string {
  return join(home.run, 'children.json')
}
